// Calls that failed without being sent.
#pragma once

#include <cstddef>
#include <utility>

#include "transport/base/intrusive_list.h"
#include "transport/base/reactor.h"
#include "transport/rpc/call.h"

namespace nfsrdma::rpc {

/// Their observers are told in a turn of the reactor of their own, never from within submit().
class FailedCalls {
 public:
  explicit FailedCalls(Reactor& reactor) : later_(reactor, [this] { tell(); }) {}

  void add(Call& call, Error error) {
    call.reply = fail(std::move(error));
    calls_.push_back(call);
    later_.schedule();
  }
  /// Tells now. Called from the reactor.
  void tell() {
    // Calls that fail again while their observers are told wait for the next turn.
    for (std::size_t left = calls_.size(); left > 0; --left) {
      Call* call = calls_.pop_front();
      call->observer->on_call_done(*call);
    }
  }

 private:
  IntrusiveList<Call> calls_;
  Deferred later_;
};

}  // namespace nfsrdma::rpc
