#include "fuse/channel/kernel_session.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "fuse/channel/mount_point.h"
#include "fuse/channel/unmount.h"
#include "transport/base/log.h"
#include "transport/base/unique_fd.h"

namespace nfsrdma::fuse {
namespace {

/// libfuse splits a list at commas: those within values are escaped.
void append_escaped(std::string& list, const std::string& option) {
  if (!list.empty()) list += ',';
  for (char c : option) {
    if (c == ',' || c == '\\') list += '\\';
    list += c;
  }
}

std::string option_list(const KernelSessionConfig& config) {
  std::string list;
  for (const auto& option : config.mount_options) append_escaped(list, option);
  append_escaped(list, "max_read=" + std::to_string(config.limits.max_read));
  return list;
}

/// The kernel has let go of the connection: its device number may be another's by now.
bool has_ended(int device) {
  pollfd state{device, 0, 0};
  return ::poll(&state, 1, 0) == 1 && (state.revents & POLLERR) != 0;
}

/// Puts the end of a broken pipe in the place of the device: the descriptor's number stays taken as
/// long as libfuse uses it, and looks like that of a connection that has ended.
void close_device(int device) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return;
  const UniqueFd reader(ends[0]);
  const UniqueFd writer(ends[1]);
  ::dup3(writer.get(), device, O_CLOEXEC);
}

}  // namespace

KernelSession::KernelSession(Reactor& reactor, BufferPool& slots, KernelSessionConfig config,
                             const HandlerTable& handlers, void* served)
    : reactor_(reactor),
      slots_(slots),
      config_(std::move(config)),
      handlers_(handlers),
      served_(served),
      in_flight_(config_.journal ? config_.journal->reactor() : reactor, config_.callers,
                 config_.answer_limit) {
  if (config_.journal) config_.journal->attach(channel_);
}

KernelSession::~KernelSession() {
  end_connection();
  // libfuse frees what mounting has allocated. It unmounts by name, whatever lies there, unless the
  // device is one whose connection has ended.
  if (session_ && has_ended(fuse_session_fd(session_.get()))) fuse_session_unmount(session_.get());
}

Result<std::unique_ptr<KernelSession>> KernelSession::create(Reactor& reactor, BufferPool& slots,
                                                             KernelSessionConfig config,
                                                             const HandlerTable& handlers,
                                                             void* served) {
  std::unique_ptr<KernelSession> session(
      new KernelSession(reactor, slots, std::move(config), handlers, served));
  const std::string list = option_list(session->config_);
  FuseLog messages;
  fuse_args arguments = FUSE_ARGS_INIT(0, nullptr);
  for (const char* argument : {"nfsrdma", "-o", list.c_str()}) {
    fuse_opt_add_arg(&arguments, argument);
  }
  const fuse_lowlevel_ops none{};  // libfuse mounts, and sees no request
  session->session_.reset(fuse_session_new(&arguments, &none, sizeof none, nullptr));
  fuse_opt_free_args(&arguments);
  if (!session->session_) {
    return fail(Error::local(EINVAL, "mount options", messages.last_line()));
  }
  return session;
}

Result<void> KernelSession::mount() {
  TRY(mount_session(*session_, config_.mount_point));
  const int device = fuse_session_fd(session_.get());
  if (passed_device(config_.mount_point)) {
    ::fcntl(device, F_SETFD, FD_CLOEXEC);
  } else {
    own_mount_ = identify_mount(config_.mount_point);
  }
  const int flags = ::fcntl(device, F_GETFL);
  if (flags < 0 || ::fcntl(device, F_SETFL, flags | O_NONBLOCK) != 0) {
    return fail(Error::from_errno(errno, "/dev/fuse"));
  }
  channel_.descriptor = device;
  return {};
}

Result<void> KernelSession::start(ReceiverObserver& observer) {
  const bool allow_root =
      std::ranges::find(config_.mount_options, "allow_root") != config_.mount_options.end();
  if (config_.io_uring) prepare_ring();
  observer_ = &observer;
  ReceiverObserver& own = *this;
  receiver_ = std::make_unique<Receiver>(reactor_, slots_, channel_, in_flight_,
                                         Serving{handlers_, served_, config_.limits, allow_root},
                                         own, config_.journal);
  return receiver_->start();
}

/// Without a ring FUSE_INIT must not agree to one: the kernel would wait for it.
void KernelSession::prepare_ring() {
  auto ring = RingReceiver::create(reactor_, slots_, in_flight_, channel_.descriptor);
  if (!ring) return log::info("requests come over /dev/fuse: {}", ring.error().message());
  ring_ = std::move(*ring);
  config_.limits.io_uring = true;
}

void KernelSession::on_initialised() {
  if (ring_ && channel_.over_io_uring) {
    ring_->start(receiver_->dispatcher(), channel_);
    log::info("requests come over io_uring, by {} queues", ring_->queues());
  } else if (ring_) {
    log::info(
        "requests come over /dev/fuse: the kernel does not offer FUSE over io_uring (Linux 6.14, "
        "fuse.enable_uring=1)");
    ring_->close();
  }
  observer_->on_initialised();
}

void KernelSession::end_connection() {
  if (ring_) ring_->close();
  receiver_.reset();
  const int device = session_ ? fuse_session_fd(session_.get()) : -1;
  if (device < 0) return;
  // Closing the device may not do: a thread that waits in it keeps it open.
  if (own_mount_.known() && !has_ended(device)) abort_connection(own_mount_.device);
  close_device(device);
}

}  // namespace nfsrdma::fuse
