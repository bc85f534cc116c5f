// A reactor for tests: no descriptors, and time that jumps to the next timer.
#pragma once

#include <mutex>
#include <vector>

#include "transport/base/reactor.h"

namespace nfsrdma {

/// Deterministic: the same posts and timers always run in the same order.
class VirtualReactor final : public Reactor {
 public:
  TimePoint now() const override { return now_; }
  Duration suspended() override { return suspended_; }

  Result<void> watch(int, std::uint32_t, FdHandler&) override {
    return fail(Error::local(95, "watch", "virtual time has no descriptors"));
  }
  Result<void> modify(int, std::uint32_t, FdHandler&) override { return watch(0, 0, none_); }
  void unwatch(int) override {}

  void wake_from_other_thread(std::function<void()> work) override {
    std::lock_guard lock(mutex_);
    foreign_.push_back(std::move(work));
  }

  /// Runs posted work and timers until `span` of virtual time has passed, or stop() is called.
  void advance(Duration span) {
    const TimePoint end = now_ + span;
    while (!stopped() && (run_once(end - now_) || now_ < end)) {
    }
  }

  /// The machine is suspended for `span`, in which no virtual time passes.
  void suspend(Duration span) { suspended_ += span; }

  /// Runs posted work without moving time.
  void settle() {
    while (run_once(Duration::zero())) {
    }
  }

 private:
  struct NoHandler final : FdHandler {
    void on_ready(std::uint32_t) override {}
  };

  bool wait(Duration longest) override {
    std::vector<std::function<void()>> batch;
    {
      std::lock_guard lock(mutex_);
      batch.swap(foreign_);
    }
    for (auto& work : batch) work();
    if (batch.empty() && longest > Duration::zero()) now_ += longest;
    return !batch.empty();
  }

  TimePoint now_{0};
  Duration suspended_{0};
  NoHandler none_;
  std::mutex mutex_;
  std::vector<std::function<void()>> foreign_;
};

}  // namespace nfsrdma
