#include "transport/base/reactor.h"

#include <algorithm>
#include <array>

namespace nfsrdma {

void Reactor::post(std::function<void()> work) { posted_.push_back(std::move(work)); }

void Reactor::post(std::coroutine_handle<> coroutine, Origin origin) {
  auto resume = [coroutine, origin] {
    const OriginScope scope(origin);
    coroutine.resume();
  };
  static_assert(sizeof resume <= 2 * sizeof(void*), "larger ones would be allocated");
  posted_.push_back(resume);
}

std::string Reactor::seen(const char* what, std::string text) {
  std::array<char, kLongestText> memory;
  const std::size_t size = text.copy(memory.data(), memory.size());
  text.assign(memory.data(), from_outside(what, std::as_writable_bytes(std::span(memory)), size));
  return text;
}

void Reactor::run() {
  stopped_ = false;
  constexpr Duration unbounded{-1};
  while (!stopped_) run_once(unbounded);
}

bool Reactor::run_once(Duration longest) {
  bool worked = run_posted();
  worked |= run_deferred();
  if (stopped_) return worked;
  const bool more = !posted_.empty() || !deferred_.empty();
  worked |= wait(more || worked ? Duration::zero() : until_next_timer(longest));
  worked |= run_due_timers();
  worked |= run_posted();
  worked |= run_deferred();
  return worked;
}

bool Reactor::run_posted() {
  if (posted_.empty()) return false;
  // Work posted meanwhile waits for the next turn, so that descriptors are not starved.
  running_.swap(posted_);
  for (auto& work : running_) work();
  running_.clear();
  return true;
}

bool Reactor::run_deferred() {
  if (deferred_.empty()) return false;
  // As with posted work, what is scheduled meanwhile waits for the next turn.
  IntrusiveList<Deferred> batch;
  while (Deferred* next = deferred_.pop_front()) batch.push_back(*next);
  while (Deferred* next = batch.pop_front()) next->work_();
  return true;
}

bool Reactor::run_due_timers() {
  bool worked = false;
  const TimePoint limit = now();
  // What is armed meanwhile, even for now, waits for the next turn: descriptors are not starved.
  for (auto left = timers_.size(); left > 0; --left) {
    if (timers_.empty() || timers_.begin()->first > limit) break;
    Timer* timer = timers_.begin()->second;
    timers_.erase(timers_.begin());
    timer->armed_ = false;
    timer->on_fire_();
    worked = true;
  }
  return worked;
}

Duration Reactor::until_next_timer(Duration longest) const {
  if (timers_.empty()) return longest;
  const Duration next = std::max(Duration::zero(), timers_.begin()->first - now());
  return longest < Duration::zero() ? next : std::min(next, longest);
}

void Timer::arm(Duration after) {
  cancel();
  place_ = reactor_.timers_.emplace(reactor_.now() + after, this);
  armed_ = true;
}

void Timer::cancel() {
  if (!armed_) return;
  reactor_.timers_.erase(place_);
  armed_ = false;
}

}  // namespace nfsrdma
