// A shared/exclusive lock for coroutines of one shard.
#pragma once

#include <cassert>
#include <cstddef>
#include <utility>

#include "transport/base/sync/wait_queue.h"

namespace nfsrdma {

/// First come, first in. Must not be destroyed while a visitor is inside or waits.
class Gate {
 public:
  enum class Mode : bool { shared, exclusive };

  explicit Gate(Reactor& reactor) : waiting_(reactor) {}
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  /// Being inside; leaves when destroyed.
  class Pass {
   public:
    Pass(Gate* gate, Mode mode) : gate_(gate), mode_(mode) {}
    Pass(Pass&& other) noexcept : gate_(std::exchange(other.gate_, nullptr)), mode_(other.mode_) {}
    Pass& operator=(Pass&&) = delete;
    ~Pass() { leave(); }
    void leave() {
      if (gate_) std::exchange(gate_, nullptr)->left(mode_);
    }

   private:
    Gate* gate_;
    Mode mode_;
  };

  class Entering : public WaitQueue::Wait {
   public:
    Entering(Gate& gate, Mode mode) : Wait(gate.waiting_), gate_(gate), mode_(mode) {}
    bool await_ready() { return gate_.waiting_.empty() && gate_.admit(mode_); }
    Pass await_resume() { return Pass(&gate_, mode_); }

   private:
    friend class Gate;
    Gate& gate_;
    const Mode mode_;
  };

  /// `auto pass = co_await gate.enter(Gate::Mode::shared);`
  Entering enter(Mode mode) { return Entering(*this, mode); }

  /// Whether a coroutine is inside in shared mode.
  bool shared() const { return sharing_ > 0; }

 private:
  bool admit(Mode mode) {
    if (exclusive_ || (mode == Mode::exclusive && sharing_ > 0)) return false;
    if (mode == Mode::exclusive) exclusive_ = true;
    if (mode == Mode::shared) ++sharing_;
    return true;
  }
  void left(Mode mode) {
    assert(mode == Mode::exclusive ? exclusive_ : sharing_ > 0);
    if (mode == Mode::exclusive) exclusive_ = false;
    if (mode == Mode::shared) --sharing_;
    // The woken are inside from now on, though their turns come later.
    while (!waiting_.empty() && admit(waiting_.first()->mode_)) waiting_.wake_one();
  }

  WaitQueueOf<Entering> waiting_;
  std::size_t sharing_ = 0;
  bool exclusive_ = false;
};

}  // namespace nfsrdma
