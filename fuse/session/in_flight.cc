#include "fuse/session/in_flight.h"

#include <linux/fuse.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "fuse/session/proc_status.h"
#include "transport/base/buffer.h"
#include "transport/base/frame_pool.h"
#include "transport/base/log.h"

namespace nfsrdma::fs {
namespace {

/// The kernel sends INTERRUPT once per request. A caller that goes on waiting after a signal it
/// handles may be killed later, without another word: such callers are looked at this often.
constexpr Duration kLookAgain = std::chrono::milliseconds(250);

/// The kernel does not send INTERRUPT for the requests of O_DIRECT: their caller waits in the
/// kernel where no signal reaches it. He is looked at once they have taken this long.
constexpr Duration kDataCallTakesLong = std::chrono::milliseconds(400);

/// A limit is looked at no more often than this.
constexpr Duration kLeastOverdueWait = std::chrono::milliseconds(20);

thread_local Dispatch* current_dispatch = nullptr;

bool is_data_call(const PendingRequest& pending) {
  return pending.opcode == FUSE_READ || pending.opcode == FUSE_WRITE;
}

void tell(PendingRequest& pending) {
  if (pending.on_interrupt) std::exchange(pending.on_interrupt, nullptr)();
}

}  // namespace

Dispatch* Dispatch::current() { return current_dispatch; }

DispatchScope::DispatchScope(Dispatch& dispatch) {
  assert(!current_dispatch);
  current_dispatch = &dispatch;
}

DispatchScope::~DispatchScope() { current_dispatch = nullptr; }

InFlight::InFlight(Reactor& reactor, CallerPolicy policy, AnswerLimit limit)
    : callers_(reactor, policy),
      look_again_timer_(reactor, [this] { look_again(); }),
      reactor_(reactor),
      limit_(std::move(limit)),
      overdue_timer_(reactor, [this] { release_overdue(); }) {}

PendingRequest& InFlight::begin(fuse_req_t request, std::uint32_t opcode) {
  void* memory = FramePool::allocate(sizeof(PendingRequest));
  auto& pending = *new (memory) PendingRequest();
  pending.owner = this;
  pending.request = request;
  pending.context = *fuse_req_ctx(request);
  pending.opcode = opcode;
  pending.begun = reactor_.now();
  requests_.push_back(pending);
  if (limit_.longest > Duration::zero() && !overdue_timer_.armed()) {
    overdue_timer_.arm(limit_.longest);
  }
  if (is_data_call(pending) && !look_again_timer_.armed()) look_again_timer_.arm(kLookAgain);
  ++running_;
  if (fuse_req_interrupted(request)) {
    // INTERRUPT overtook its request. Registering now would call back from inside libfuse's own
    // use of the request, where it must not be answered.
    interrupted(pending);
  } else {
    fuse_req_interrupt_func(request, on_interrupt, &pending);
  }
  return pending;
}

void InFlight::end(PendingRequest& pending) {
  if (pending.request) {
    counters_.unanswered.add();
    log::error("fuse: {} ended without an answer", opcode_name(pending.opcode));
    answered(pending, fuse_reply_err(pending.request, EIO));
  }
  pending.~PendingRequest();
  FramePool::release(&pending, sizeof(PendingRequest));
  if (--running_ == 0 && idle_) std::exchange(idle_, nullptr)();
}

bool InFlight::answered(PendingRequest& pending, int result) {
  pending.request = nullptr;
  counters_.device_writes.add();
  if (result == 0) return true;
  if (result == -ENOENT) {
    counters_.replies_unwanted.add();
  } else {
    counters_.replies_failed.add();
    log::debug("fuse: answer to {}: {}", opcode_name(pending.opcode), std::strerror(-result));
  }
  return false;
}

void InFlight::when_idle(std::function<void()> done) {
  if (running_ == 0) return done();
  idle_ = std::move(done);
}

void InFlight::on_interrupt(fuse_req_t, void* data) {
  auto& pending = *static_cast<PendingRequest*>(data);
  pending.owner->interrupted(pending);
}

void InFlight::interrupted(PendingRequest& pending) {
  counters_.interrupts.add();
  pending.interrupted = true;
  const bool released = release_if_killed(pending);
  tell(pending);
  if (!released && !look_again_timer_.armed()) look_again_timer_.arm(kLookAgain);
}

bool InFlight::release_if_killed(PendingRequest& pending) {
  const ProcStatus status(pending.context.pid);
  // A caller that cannot be looked at is released: better an EINTR than a process that stays.
  if (status.readable() && !is_being_killed(status.text())) return false;
  counters_.interrupted.add();
  answered(pending, fuse_reply_err(pending.request, EINTR));
  tell(pending);
  return true;
}

// Read-ahead outlives its caller and serves others: unlike an interrupted one, such a request is
// left alone when its caller is gone or cannot be looked at.
void InFlight::release_data_call_if_killed(PendingRequest& pending) {
  if (reactor_.now() - pending.begun < kDataCallTakesLong) return;
  const ProcStatus status(pending.context.pid);
  if (!status.readable() || !is_being_killed(status.text())) return;
  counters_.interrupted.add();
  answered(pending, fuse_reply_err(pending.request, EINTR));
}

void InFlight::look_again() {
  bool any_left = false;
  requests_.for_each([&](PendingRequest& pending) {
    if (!pending.request) return;
    if (pending.interrupted) {
      any_left |= !release_if_killed(pending);
    } else if (is_data_call(pending)) {
      release_data_call_if_killed(pending);
      any_left |= pending.request != nullptr;
    }
  });
  if (any_left) look_again_timer_.arm(kLookAgain);
}

// A request that has taken long because the server did much for it is not overdue: the server must
// owe an answer for as long.
void InFlight::release_overdue() {
  const TimePoint now = reactor_.now();
  const Duration silent_for = now - limit_.waiting_since();
  Duration wait = Duration::max();
  requests_.for_each([&](PendingRequest& pending) {
    if (!pending.request) return;
    const Duration left = limit_.longest - std::min(now - pending.begun, silent_for);
    if (left > Duration::zero()) {
      wait = std::min(wait, left);
      return;
    }
    counters_.timed_out.add();
    answered(pending, fuse_reply_err(pending.request, limit_.error_number));
  });
  if (wait != Duration::max()) overdue_timer_.arm(std::max(wait, kLeastOverdueWait));
}

}  // namespace nfsrdma::fs
