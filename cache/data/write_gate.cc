#include "cache/data/write_gate.h"

#include <cassert>

namespace nfsrdma::cache {

bool WriteGate::admit(Mode mode) {
  if (exclusive_) return false;
  if (mode == Mode::shared) {
    ++sharing_;
    return true;
  }
  if (sharing_ > 0) return false;
  exclusive_ = true;
  return true;
}

void WriteGate::left(Mode mode) {
  if (mode == Mode::exclusive) {
    assert(exclusive_);
    exclusive_ = false;
  } else {
    assert(sharing_ > 0);
    --sharing_;
  }
  if (!waiting_.empty()) wake_.schedule();
}

void WriteGate::let_in() {
  while (!waiting_.empty() && admit(waiting_.front().mode_)) {
    // Resuming may destroy the gate once nobody waits any more.
    Entering* next = waiting_.pop_front();
    const bool last = waiting_.empty();
    next->waiter_.resume();
    if (last) return;
  }
}

}  // namespace nfsrdma::cache
