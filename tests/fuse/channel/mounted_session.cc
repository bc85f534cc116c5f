#include "tests/fuse/channel/mounted_session.h"

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cstdlib>
#include <future>

#include "fuse/channel/mount_table.h"

namespace nfsrdma::testing {

std::string reason_not_to_mount() {
  if (::access("/dev/fuse", R_OK | W_OK) != 0) return "/dev/fuse is not usable";
  if (::geteuid() != 0) return "needs root";
  return {};
}

bool connections_are_visible() {
  constexpr const char* directory = "/sys/fs/fuse/connections";
  if (fuse::find_mount(directory)) return true;
  return ::mount("fusectl", directory, "fusectl", 0, nullptr) == 0;
}

void wait_until(const std::function<bool()>& condition) {
  while (!condition()) std::this_thread::yield();
}

MountedSession::MountedSession(const fuse::HandlerTable& handlers, MemoryFileSystem& files,
                               std::size_t slots, bool io_uring)
    : reactor_(make_epoll_reactor()),
      slots_(*BufferPool::create(fuse::kSlotSize, slots,
                                 io_uring ? BufferPool::Mapping::many : BufferPool::Mapping::one)) {
  char directory[] = "/tmp/nfsrdma-session-XXXXXX";
  path_ = ::mkdtemp(directory);
  fuse::KernelSessionConfig config;
  config.mount_point = path_;
  config.mount_options = {"fsname=memory", "subtype=nfsrdma-test", "allow_other"};
  config.io_uring = io_uring;
  config.answer_limit.exiting = kExiting;
  auto session = fuse::KernelSession::create(*reactor_, *slots_, config, handlers, &files);
  EXPECT_TRUE(session.has_value()) << session.error().message();
  session_ = std::move(*session);
  const auto mounted = session_->mount();
  EXPECT_TRUE(mounted.has_value()) << mounted.error().message();
  reactor_->post([this] { EXPECT_TRUE(session_->start(*this).has_value()); });
  thread_ = std::thread([this] { reactor_->run(); });
  wait_until([this] { return initialised(); });
}

MountedSession::~MountedSession() {
  unmount();
  wait_until([this] { return ended(); });
  on_shard([this] { reactor_->stop(); });
  thread_.join();
  session_.reset();
  ::rmdir(path_.c_str());
}

void MountedSession::unmount() { ::umount2(path_.c_str(), MNT_DETACH); }

void MountedSession::on_shard(const std::function<void()>& work) {
  std::promise<void> done;
  reactor_->wake_from_other_thread([&] {
    work();
    done.set_value();
  });
  done.get_future().wait();
}

std::uint64_t MountedSession::count(Counter fuse::ChannelCounters::*counter) {
  return (session_->in_flight().counters().*counter).value();
}

std::uint64_t MountedSession::requests(std::uint32_t opcode) {
  return session_->in_flight().counters().requests[opcode].value();
}

}  // namespace nfsrdma::testing
