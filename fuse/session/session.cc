#include "fuse/session/session.h"

#include <fcntl.h>

#include <cerrno>

#include "fuse/session/device_io.h"
#include "fuse/session/mount.h"
#include "fuse/session/mount_table.h"

namespace nfsrdma::fs {
namespace {

void on_init(void*, fuse_conn_info* connection) {
  negotiate(*connection, Dispatch::current()->limits);
}

/// libfuse splits a list at commas: those within values are escaped.
void append_escaped(std::string& list, const std::string& option) {
  if (!list.empty()) list += ',';
  for (char c : option) {
    if (c == ',' || c == '\\') list += '\\';
    list += c;
  }
}

std::string option_list(const SessionConfig& config) {
  std::string list;
  for (const auto& option : config.mount_options) append_escaped(list, option);
  append_escaped(list, "max_read=" + std::to_string(config.limits.max_read));
  return list;
}

}  // namespace

Session::Session(Reactor& reactor, BufferPool& slots, SessionConfig config)
    : reactor_(reactor),
      slots_(slots),
      config_(std::move(config)),
      in_flight_(reactor, config_.callers, config_.answer_limit) {}

Session::~Session() {
  receiver_.reset();
  const auto entry = find_mount(config_.mount_point);
  const bool another = entry && entry->device != device_;
  // libfuse unmounts by name, if the connection has not ended, and frees what mounting allocated.
  if (session_ && !another) fuse_session_unmount(session_.get());
}

Result<std::unique_ptr<Session>> Session::create(Reactor& reactor, BufferPool& slots,
                                                 SessionConfig config,
                                                 const fuse_lowlevel_ops& operations,
                                                 void* user_data) {
  std::unique_ptr<Session> session(new Session(reactor, slots, std::move(config)));
  fuse_lowlevel_ops table = operations;
  table.init = on_init;
  const std::string list = option_list(session->config_);
  FuseLog messages;
  fuse_args arguments = FUSE_ARGS_INIT(0, nullptr);
  for (const char* argument : {"nfsrdma", "-o", list.c_str()}) {
    fuse_opt_add_arg(&arguments, argument);
  }
  session->session_.reset(fuse_session_new(&arguments, &table, sizeof table, user_data));
  fuse_opt_free_args(&arguments);
  if (!session->session_) {
    return fail(Error::local(EINVAL, "mount options", messages.last_line()));
  }
  return session;
}

Result<void> Session::mount() {
  TRY(mount_session(*session_, config_.mount_point));
  const int device = fuse_session_fd(session_.get());
  const int flags = ::fcntl(device, F_GETFL);
  if (flags < 0 || ::fcntl(device, F_SETFL, flags | O_NONBLOCK) != 0) {
    return fail(Error::from_errno(errno, "/dev/fuse"));
  }
  TRY(complete_init_answer(*session_));
  const auto entry = find_mount(config_.mount_point);
  if (entry) device_ = entry->device;
  return {};
}

Result<void> Session::start(ReceiverObserver& observer) {
  receiver_ =
      std::make_unique<Receiver>(reactor_, slots_, *session_, in_flight_, config_.limits, observer);
  return receiver_->start();
}

}  // namespace nfsrdma::fs
