#include "fuse/channel/in_flight.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "fuse/channel/arguments.h"
#include "fuse/channel/proc_status.h"
#include "transport/base/frame_pool.h"
#include "transport/base/log.h"
#include "transport/base/probe.h"

namespace nfsrdma::fuse {
namespace {

/// The kernel sends INTERRUPT once per request. A caller that goes on waiting after a signal it
/// handles may be killed later, without another word: such callers are looked at this often.
constexpr Duration kLookAgain = std::chrono::milliseconds(250);

/// INTERRUPT may not come. The kernel sends none for the requests of O_DIRECT, whose caller waits
/// where no signal reaches it, and over io_uring none for a request whose caller got its signal
/// before this program got the request. And it comes by /dev/fuse, which is not read without a free
/// slot. So each caller is looked at once its request has taken this long.
constexpr Duration kTakesLong = std::chrono::milliseconds(400);

/// A READ that began this long ago and whose caller is gone is answered: the kernel keeps its pages
/// locked until then, and a caller that truncates the file would wait for them without seeing
/// signals.
constexpr Duration kPagesKeptForNobody = std::chrono::seconds(1);

/// A process that exits waits so many times longer while the server answers.
constexpr int kExitingServed = 6;

/// A caller that /proc hides got some signal. If it handles that, it goes on waiting for a server
/// that answers; if it is SIGKILL, it must not stay as long as a server is silent.
constexpr Duration kHiddenPatience = std::chrono::seconds(5);

/// A limit is looked at no more often than this.
constexpr Duration kLeastOverdueWait = std::chrono::milliseconds(20);

// Every request passes here: what only the log needs is looked up when it is kept.
void log_request(const PendingRequest& pending) {
  log::debug("fuse: request {}: {} of inode {} by process {}, {} bytes", pending.unique,
             opcode_name(pending.opcode), pending.node, pending.context.pid, pending.bytes);
}

void log_answer(const PendingRequest& pending, int error_number, std::size_t bytes, TimePoint now) {
  log::debug("fuse: answer to request {}, {}: errno {}, {} bytes after {:.1f} us", pending.unique,
             opcode_name(pending.opcode), error_number, bytes,
             std::chrono::duration<double, std::micro>(now - pending.begun).count());
}

void tell(PendingRequest& pending) {
  if (pending.on_interrupt) std::exchange(pending.on_interrupt, nullptr)();
}

}  // namespace

InFlight::InFlight(Reactor& reactor, CallerPolicy policy, AnswerLimit limit)
    : callers_(reactor, policy),
      look_again_timer_(reactor, [this] { look_again(); }),
      leaving_timer_(reactor, [this] { release_leaving(); }),
      reactor_(reactor),
      limit_(std::move(limit)),
      overdue_timer_(reactor, [this] { release_overdue(); }) {}

PendingRequest& InFlight::begin(KernelChannel& channel, const fuse_in_header& header) {
  void* memory = FramePool::allocate(sizeof(PendingRequest));
  auto& pending = *new (memory) PendingRequest();
  pending.owner = this;
  pending.channel = &channel;
  pending.unique = header.unique;
  pending.context = {header.uid, header.gid, static_cast<pid_t>(header.pid)};
  pending.opcode = header.opcode;
  pending.bytes = header.len;
  pending.node = header.nodeid;
  pending.begun = reactor_.now();
  requests_.push_back(pending);
  NFSRDMA_PROBE(fuse_request, pending.unique, pending.opcode, pending.node, pending.bytes);
  if (log::enabled(log::Level::debug)) log_request(pending);
  if (limit_.longest > Duration::zero() && !overdue_timer_.armed()) {
    overdue_timer_.arm(limit_.longest);
  }
  if (!look_again_timer_.armed()) look_again_timer_.arm(kLookAgain);
  // Its operation begins before the process is let go.
  if (pending.opcode == FUSE_FLUSH && leaving_.knows(pending.context.pid)) {
    leaving_timer_.arm(Duration::zero());
  }
  ++running_;
  return pending;
}

void InFlight::end(PendingRequest& pending) {
  if (!pending.answered) {
    counters_.unanswered.add();
    log::error("fuse: {} ended without an answer", opcode_name(pending.opcode));
    answer(pending, EIO);
  }
  if (pending.released) --released_;
  pending.~PendingRequest();
  FramePool::release(&pending, sizeof(PendingRequest));
  if (--running_ == 0 && idle_) std::exchange(idle_, nullptr)();
}

bool InFlight::answer(PendingRequest& pending, int error_number, std::span<const std::byte> body) {
  const int failed = send_answer(*pending.channel, pending.unique, error_number, body);
  pending.answered = true;
  note_answer(pending, error_number, body.size());
  if (log::enabled(log::Level::debug))
    log_answer(pending, error_number, body.size(), reactor_.now());
  tell(pending);
  counters_.count_answer(*pending.channel);
  if (failed == 0) return true;
  if (failed == ENOENT) {
    counters_.replies_unwanted.add();
  } else {
    counters_.replies_failed.add();
    log::debug("fuse: answer to {}: {}", opcode_name(pending.opcode), std::strerror(failed));
  }
  return false;
}

void InFlight::note_answer(const PendingRequest& pending, int error_number, std::size_t bytes) {
  const TimePoint now = reactor_.now();
  NFSRDMA_PROBE(fuse_answer, pending.unique, pending.opcode, error_number, bytes,
                (now - pending.begun).count());
  ended_.add({.unique = pending.unique,
              .node = pending.node,
              .opcode = pending.opcode,
              .pid = pending.context.pid,
              .error_number = error_number,
              .bytes_received = pending.bytes,
              .bytes_sent = static_cast<std::uint32_t>(bytes),
              .received = pending.begun,
              .answered = now});
}

void InFlight::when_idle(std::function<void()> done) {
  if (running_ == 0) return done();
  idle_ = std::move(done);
}

// One thread reads requests, and the kernel sends INTERRUPT after its request was read: one that is
// not found has been answered.
void InFlight::interrupt(const Message& message) {
  fuse_interrupt_in which{};
  Decoder decoder(message);
  decoder.read(which);
  PendingRequest* found = nullptr;
  requests_.for_each([&](PendingRequest& pending) {
    if (pending.unique == which.unique && !pending.answered) found = &pending;
  });
  if (found) interrupted(*found);
}

void InFlight::interrupted(PendingRequest& pending) {
  counters_.interrupts.add();
  pending.interrupted = true;
  pending.interrupted_at = reactor_.now();
  const bool released = release_if_killed(pending);
  tell(pending);
  if (!released && !look_again_timer_.armed()) look_again_timer_.arm(kLookAgain);
}

void InFlight::release(PendingRequest& pending, int error_number) {
  pending.released = true;
  ++released_;
  answer(pending, error_number);
}

bool InFlight::released(std::uint64_t unique) {
  if (released_ == 0) return false;
  bool found = false;
  requests_.for_each(
      [&](PendingRequest& pending) { found |= pending.unique == unique && pending.released; });
  return found;
}

bool InFlight::release_if_killed(PendingRequest& pending) {
  const ProcStatus status(reactor_, pending.context.pid);
  if (status.readable() && !is_being_killed(status.text())) return false;
  if (status.hidden()) {
    callers_.report_hidden(pending.context);
    if (reactor_.now() - pending.interrupted_at < kHiddenPatience) return false;
  }
  counters_.interrupted.add();
  release(pending, EINTR);
  return true;
}

Duration InFlight::server_silent_for() const {
  if (!limit_.waiting_since) return Duration::max();
  return reactor_.now() - limit_.waiting_since();
}

/// The caller is gone, but something still waits for the answer. FLUSH of a process
/// that exits is the close(2) that makes its data durable: it is waited for longer while the server
/// does something. All files of the process share that time.
bool InFlight::is_left_behind(const PendingRequest& pending) const {
  const Duration taken = reactor_.now() - pending.begun;
  if (pending.opcode == FUSE_READ) {
    return taken >= kPagesKeptForNobody && life_of(reactor_, pending.context.pid) != Life::goes_on;
  }
  if (pending.opcode != FUSE_FLUSH) return false;
  const Duration waited = reactor_.now() - leaving_.since(pending.context.pid, pending.begun);
  if (waited < limit_.exiting) return false;
  const bool served = server_silent_for() < limit_.exiting;
  if (served && waited < kExitingServed * limit_.exiting) return false;
  return life_of(reactor_, pending.context.pid) == Life::exiting;
}

// Read-ahead outlives its caller and serves others: unlike an interrupted one, such a request is
// left alone for a while when its caller is gone, and for good when /proc does not show the caller.
// Its operation keeps slot and memory until the server has answered.
void InFlight::release_unsignalled(PendingRequest& pending) {
  if (reactor_.now() - pending.begun < kTakesLong) return;
  const ProcStatus status(reactor_, pending.context.pid);
  if (status.readable() && is_being_killed(status.text())) {
    counters_.interrupted.add();
    release(pending, EINTR);
  } else {
    release_left_behind(pending);
  }
}

void InFlight::release_left_behind(PendingRequest& pending) {
  if (!is_left_behind(pending)) return;
  if (pending.opcode == FUSE_FLUSH) leaving_.note(pending.context.pid, pending.begun);
  counters_.left_behind.add();
  release(pending, EINTR);
}

void InFlight::release_leaving() {
  requests_.for_each([&](PendingRequest& pending) {
    if (pending.answered || pending.opcode != FUSE_FLUSH) return;
    if (leaving_.knows(pending.context.pid)) release_left_behind(pending);
  });
}

void InFlight::look_again() {
  bool any_left = false;
  requests_.for_each([&](PendingRequest& pending) {
    if (pending.answered) return;
    if (pending.interrupted) {
      any_left |= !release_if_killed(pending);
    } else {
      release_unsignalled(pending);
      any_left |= !pending.answered;
    }
  });
  leaving_.forget_ended(reactor_);
  if (any_left) look_again_timer_.arm(kLookAgain);
}

// A request that has taken long because the server did much for it is not overdue: the server must
// owe an answer for as long.
void InFlight::release_overdue() {
  const TimePoint now = reactor_.now();
  const Duration silent_for = now - limit_.waiting_since();
  Duration wait = Duration::max();
  requests_.for_each([&](PendingRequest& pending) {
    if (pending.answered) return;
    const Duration left = limit_.longest - std::min(now - pending.begun, silent_for);
    if (left > Duration::zero()) {
      wait = std::min(wait, left);
      return;
    }
    counters_.timed_out.add();
    if (limit_.report) limit_.report(pending, limit_.error_number);
    release(pending, limit_.error_number);
  });
  if (wait != Duration::max()) overdue_timer_.arm(std::max(wait, kLeastOverdueWait));
}

}  // namespace nfsrdma::fuse
