// A reactor for tests with real sockets and virtual time: both ends of every connection are on it.
#pragma once

#include <mutex>
#include <unordered_map>
#include <vector>

#include "transport/base/reactor.h"
#include "transport/base/unique_fd.h"

namespace nfsrdma::hostile {

/// Time moves only when nothing is left to be read, and then to the next timer: leases of 90 s pass
/// in milliseconds, while bytes take the way they take in the product.
class SocketReactor final : public Reactor {
 public:
  SocketReactor();

  TimePoint now() const override { return now_; }
  Result<void> watch(int fd, std::uint32_t events, FdHandler& handler) override;
  Result<void> modify(int fd, std::uint32_t events, FdHandler& handler) override;
  void unwatch(int fd) override;
  void wake_from_other_thread(std::function<void()> work) override;

  /// Runs until `done` is true or `span` of virtual time has passed. Returns whether it is true.
  bool run_until(const std::function<bool()>& done, Duration span);
  /// Runs for this long.
  void advance(Duration span) {
    run_until([] { return false; }, span);
  }
  /// Runs what can be run without moving time.
  void settle() {
    while (run_once(Duration::zero())) {
    }
  }
  /// Turns of the loop so far: what works without end shows here, in no time.
  std::uint64_t turns() const { return turns_; }

 private:
  bool wait(Duration longest) override;
  int ready(int milliseconds);
  bool run_foreign();
  Result<void> control(int operation, int fd, std::uint32_t events);

  UniqueFd epoll_;
  std::unordered_map<int, FdHandler*> handlers_;
  TimePoint now_{std::chrono::hours(1)};
  bool quiet_ = false;  ///< nothing has become ready since time was moved
  std::uint64_t turns_ = 0;
  std::mutex mutex_;
  std::vector<std::function<void()>> foreign_;
};

}  // namespace nfsrdma::hostile
