// Keeps writes to a file apart from operations that must not run beside them.
#pragma once

#include <coroutine>
#include <cstddef>
#include <utility>

#include "transport/base/intrusive_list.h"
#include "transport/base/reactor.h"

namespace nfsrdma::cache {

/// A shared/exclusive gate for coroutines, first come first served. Writes pass it shared; sending
/// lost data again and changing the size pass it alone, so that old data never overtakes new. Must
/// not be destroyed while somebody is inside or waits.
class WriteGate {
 public:
  enum class Mode : bool { shared, exclusive };

  explicit WriteGate(Reactor& reactor) : wake_(reactor, [this] { let_in(); }) {}
  WriteGate(const WriteGate&) = delete;
  WriteGate& operator=(const WriteGate&) = delete;

  /// Being inside; leaves when destroyed.
  class Pass {
   public:
    Pass(WriteGate* gate, Mode mode) : gate_(gate), mode_(mode) {}
    Pass(Pass&& other) noexcept : gate_(std::exchange(other.gate_, nullptr)), mode_(other.mode_) {}
    Pass& operator=(Pass&&) = delete;
    ~Pass() { leave(); }
    void leave() {
      if (gate_) std::exchange(gate_, nullptr)->left(mode_);
    }

   private:
    WriteGate* gate_;
    Mode mode_;
  };

  class Entering : public ListNode {
   public:
    Entering(WriteGate& gate, Mode mode) : gate_(gate), mode_(mode) {}
    bool await_ready() { return gate_.waiting_.empty() && gate_.admit(mode_); }
    void await_suspend(std::coroutine_handle<> waiter) {
      waiter_ = waiter;
      gate_.waiting_.push_back(*this);
    }
    Pass await_resume() { return Pass(&gate_, mode_); }

   private:
    friend class WriteGate;
    WriteGate& gate_;
    Mode mode_;
    std::coroutine_handle<> waiter_;
  };

  /// `auto pass = co_await gate.enter(WriteGate::Mode::shared);`
  Entering enter(Mode mode) { return Entering(*this, mode); }

  /// Somebody is inside in shared mode.
  bool shared() const { return sharing_ > 0; }

 private:
  bool admit(Mode mode);
  void left(Mode mode);
  void let_in();

  IntrusiveList<Entering> waiting_;
  Deferred wake_;
  std::size_t sharing_ = 0;
  bool exclusive_ = false;
};

}  // namespace nfsrdma::cache
