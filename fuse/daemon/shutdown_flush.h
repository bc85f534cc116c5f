// The end of a mounted file system: saves written data as long as that is possible.
#pragma once

#include <chrono>

#include "fuse/ops/file_system.h"
#include "transport/base/sync/event.h"

namespace nfsrdma::fuse {

/// Belongs to the reactor of the file system, which outlives it. Used once; goes after the reactor
/// has stopped.
class ShutdownFlush {
 public:
  /// Acknowledged data is given up only after this time without progress.
  static constexpr Duration kSavePatience = std::chrono::seconds(10);

  ShutdownFlush(Reactor& reactor, FileSystem& fs)
      : reactor_(reactor), fs_(fs), finished_(reactor) {}

  /// FileSystem::finish(), and waits for the data of files that are being closed already. Gives up,
  /// with false, when the server does nothing for `patience`, or for kSavePatience as long as there
  /// is data that it has not made durable. Answers of the server count only if something was saved
  /// or closed. Calls Mount::hurry().
  Task<bool> finish(Duration patience);
  /// Returns when the work has ended that finish() gave up; after Mount::stop(), with which every
  /// wait for the server has ended. Does not insist.
  Task<void> end() { co_await finished_.wait(kSavePatience); }

 private:
  Task<void> work();
  Task<void> look_again_in(Duration interval);

  Reactor& reactor_;
  FileSystem& fs_;
  Event finished_;
};

}  // namespace nfsrdma::fuse
