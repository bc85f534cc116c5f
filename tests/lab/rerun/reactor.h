// The event loop of a rerun.
#pragma once

#include <map>

#include "tests/lab/rerun/recording.h"
#include "tests/lab/rerun/world.h"
#include "transport/base/reactor.h"

namespace nfsrdma::lab::rerun {

/// The counterpart of journal::JournaledReactor: its clock is the recording's. Belongs to one
/// thread.
class RerunReactor final : public Reactor {
 public:
  /// Outlived by `world`.
  explicit RerunReactor(World& world) : world_(world) {}

  TimePoint now() const override { return now_; }
  Duration suspended() override { return seen("time suspended", Duration::zero()); }
  Result<void> watch(int fd, std::uint32_t, FdHandler& handler) override;
  Result<void> modify(int fd, std::uint32_t events, FdHandler& handler) override;
  void unwatch(int fd) override;
  void wake_from_other_thread(std::function<void()>) override {}
  std::function<void()> waking_call(std::function<void()> work) override;
  std::size_t from_outside(const char* what, std::span<std::byte> memory,
                           std::size_t size) override {
    return world_.seen(what, memory, size);
  }

  void set_now(TimePoint now) { now_ = now; }
  /// Something is to be done now.
  bool busy() const { return has_work(); }
  /// When the next timer is due; far away without one.
  TimePoint next_timer() const {
    return timers_armed() == 0 ? TimePoint::max() : now_ + until_next_timer(Duration::max() - now_);
  }
  /// Kind::work.
  void work() { run_once(Duration::zero()); }
  /// Kind::woken, Kind::ready.
  void wake(std::uint32_t number);
  void ready(std::uint32_t number, std::uint32_t events);

 private:
  struct Watch {
    std::uint32_t number = 0;
    FdHandler* handler = nullptr;
  };

  bool wait(Duration) override { return false; }

  World& world_;
  TimePoint now_{0};
  std::uint32_t waking_calls_made_ = 0;
  std::uint32_t watches_made_ = 0;
  std::map<std::uint32_t, std::function<void()>> waking_calls_;
  std::map<int, Watch> watches_;
};

}  // namespace nfsrdma::lab::rerun
