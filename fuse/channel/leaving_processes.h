// Processes that exit while the server does not answer, with more files to close.
#pragma once

#include <sys/types.h>

#include <map>

#include "fuse/channel/proc_status.h"
#include "transport/base/reactor.h"

namespace nfsrdma::fuse {

/// The kernel closes the files of a process that exits one after the other, and waits for each
/// FLUSH. How long the process may wait is counted for all of them: from the first FLUSH that was
/// answered before it was done. Belongs to the session's reactor.
class LeavingProcesses {
 public:
  bool knows(pid_t process) const { return since_.contains(process); }
  /// When its first FLUSH that was answered early began; `begun` for a process that has had none.
  TimePoint since(pid_t process, TimePoint begun) const {
    const auto found = since_.find(process);
    return found == since_.end() ? begun : found->second;
  }
  /// A FLUSH of it that began at that time is answered early.
  void note(pid_t process, TimePoint begun) { since_.try_emplace(process, begun); }
  /// The kernel gives their numbers to others.
  void forget_ended(Reactor& reactor) {
    std::erase_if(since_,
                  [&](const auto& one) { return life_of(reactor, one.first) != Life::exiting; });
  }

 private:
  std::map<pid_t, TimePoint> since_;
};

}  // namespace nfsrdma::fuse
