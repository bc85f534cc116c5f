// Real descriptors and a clock that a test moves: for timers that must not fire by themselves.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>

#include "transport/base/reactor.h"

namespace nfsrdma::testing_support {

class StoppedClock final : public Reactor {
 public:
  TimePoint now() const override { return now_; }
  void advance(Duration by) { now_ += by; }
  Result<void> watch(int fd, std::uint32_t events, FdHandler& handler) override {
    return descriptors_->watch(fd, events, handler);
  }
  Result<void> modify(int fd, std::uint32_t events, FdHandler& handler) override {
    return descriptors_->modify(fd, events, handler);
  }
  void unwatch(int fd) override { descriptors_->unwatch(fd); }
  void wake_from_other_thread(std::function<void()> work) override {
    descriptors_->wake_from_other_thread(std::move(work));
  }

 private:
  bool wait(Duration longest) override {
    constexpr Duration kLongest = std::chrono::milliseconds(1);
    return descriptors_->run_once(longest < Duration::zero() ? kLongest
                                                             : std::min(longest, kLongest));
  }

  TimePoint now_{std::chrono::hours(1)};
  std::unique_ptr<Reactor> descriptors_ = make_epoll_reactor();
};

}  // namespace nfsrdma::testing_support
