// A real FUSE mount served by a thread of the test program.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "fuse/channel/kernel_session.h"
#include "tests/support/memory_fs.h"

namespace nfsrdma::testing {

/// Empty when this machine lets the test mount, else the reason why not.
std::string reason_not_to_mount();

/// Makes /sys/fs/fuse/connections available where it is not mounted yet (systemd does). False when
/// that is not possible.
bool connections_are_visible();

/// Yields until the condition holds; the test's time limit bounds it.
void wait_until(const std::function<bool()>& condition);

/// Mounted from construction to destruction. Everything of the session happens on its own thread.
class MountedSession final : private fuse::ReceiverObserver {
 public:
  /// How long a process that exits waits for its FLUSH.
  static constexpr Duration kExiting = std::chrono::milliseconds(600);

  MountedSession(const fuse::HandlerTable& handlers, MemoryFileSystem& files, std::size_t slots = 8,
                 bool io_uring = false);
  MountedSession(const MountedSession&) = delete;
  MountedSession& operator=(const MountedSession&) = delete;
  ~MountedSession();

  const std::string& path() const { return path_; }
  std::string path(const char* name) const { return path_ + "/" + name; }
  /// Runs work on the session's thread and waits for its end.
  void on_shard(const std::function<void()>& work);
  /// A value read on the session's thread.
  std::uint64_t count(Counter fuse::ChannelCounters::*counter);
  std::uint64_t requests(std::uint32_t opcode);
  fuse::KernelSession& session() { return *session_; }
  BufferPool& slots() { return *slots_; }
  bool ended() const { return ended_; }
  bool initialised() const { return initialised_; }
  /// As `fusermount3 -u` does.
  void unmount();

 private:
  void on_initialised() override { initialised_ = true; }
  void on_receive_ended(const Error&) override { ended_ = true; }

  std::unique_ptr<Reactor> reactor_;
  std::unique_ptr<BufferPool> slots_;
  std::string path_;
  std::unique_ptr<fuse::KernelSession> session_;
  std::atomic<bool> initialised_ = false;
  std::atomic<bool> ended_ = false;
  std::thread thread_;
};

}  // namespace nfsrdma::testing
