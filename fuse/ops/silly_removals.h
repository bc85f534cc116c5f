// Silly names that are about to go: their directory is not empty until they have gone.
#pragma once

#include <cstdint>

#include "client/session/wait_list.h"
#include "transport/base/intrusive_list.h"
#include "transport/base/reactor.h"
#include "transport/base/task.h"

namespace nfsrdma::fs {

/// The kernel does not wait for RELEASE when a file is closed: who closes a removed file and then
/// removes its directory may be ahead of the removal of the silly name. Belongs to the shard.
class SillyRemovals {
 public:
  explicit SillyRemovals(Reactor& reactor) : ended_one_(reactor) {}
  SillyRemovals(const SillyRemovals&) = delete;
  SillyRemovals& operator=(const SillyRemovals&) = delete;

  /// The close of a file with a silly name, from the arrival of RELEASE to its end.
  class UnderWay : public ListNode {
   public:
    explicit UnderWay(SillyRemovals& removals) : removals_(removals), number_(++removals.begun_) {
      removals.under_way_.push_back(*this);
    }
    UnderWay(const UnderWay&) = delete;
    UnderWay& operator=(const UnderWay&) = delete;
    ~UnderWay() {
      unlink();
      ++removals_.ended_;
      removals_.ended_one_.wake_all();
    }

   private:
    friend class SillyRemovals;
    SillyRemovals& removals_;
    const std::uint64_t number_;
  };

  /// How many have ended; for wait().
  std::uint64_t ended() const { return ended_; }
  /// Waits for all that are under way. False when none has ended since there had been `ended`: a
  /// directory that was not empty then is not empty now.
  Task<bool> wait(std::uint64_t ended) {
    const std::uint64_t last = begun_;
    while (!under_way_.empty() && under_way_.front().number_ <= last) co_await ended_one_.wait();
    co_return ended_ != ended;
  }

 private:
  IntrusiveList<UnderWay> under_way_;  ///< oldest first
  client::WaitList ended_one_;
  std::uint64_t begun_ = 0;
  std::uint64_t ended_ = 0;
};

}  // namespace nfsrdma::fs
