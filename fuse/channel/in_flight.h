// The requests a session has received and not yet answered, and those whose operation still runs.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>

#include "fuse/channel/caller.h"
#include "fuse/channel/counters.h"
#include "fuse/channel/ended_request.h"
#include "fuse/channel/kernel_channel.h"
#include "fuse/channel/leaving_processes.h"
#include "transport/base/intrusive_list.h"
#include "transport/base/reactor.h"
#include "transport/base/recent.h"

namespace nfsrdma::fuse {

class InFlight;

struct PendingRequest;

/// How long callers wait for a server that does not answer: soft, softerr, timeo and retrans of
/// nfs(5). They are answered then; their operations go on, and keep slot and memory until the
/// server answers or the connection ends.
struct AnswerLimit {
  Duration longest{0};   ///< 0: for ever
  int error_number = 0;  ///< what callers are told
  /// How long a process that exits waits in FLUSH, of all its files together, for a server that
  /// does not answer; for one that does, six times as long. It sees no signal any more, SIGKILL
  /// neither, so that the kernel sends no INTERRUPT.
  Duration exiting = std::chrono::seconds(5);
  /// Send time of the oldest unanswered request.
  std::function<TimePoint()> waiting_since;
  /// Told of each caller that gets `error_number`, just before.
  std::function<void(const PendingRequest&, int error_number)> report;
};

/// One request between its Request's making and destruction.
struct PendingRequest : ListNode {
  InFlight* owner = nullptr;
  KernelChannel* channel = nullptr;  ///< where its answer goes
  std::uint64_t unique = 0;          ///< the kernel's name for it
  bool answered = false;
  bool released = false;  ///< answered early: its caller is gone, or its patience over
  CallerIds context;
  std::uint32_t opcode = 0;
  std::uint32_t bytes = 0;  ///< of the request
  std::uint64_t node = 0;   ///< the inode it is about, by the kernel's number
  TimePoint begun{0};
  TimePoint interrupted_at{0};
  bool interrupted = false;            ///< the kernel sent INTERRUPT for it
  std::function<void()> on_interrupt;  ///< of an operation that waits for another caller
};

/// Belongs to the session's reactor thread.
class InFlight {
 public:
  InFlight(Reactor& reactor, CallerPolicy policy, AnswerLimit limit = {});
  InFlight(const InFlight&) = delete;
  InFlight& operator=(const InFlight&) = delete;

  PendingRequest& begin(KernelChannel& channel, const fuse_in_header& header);
  /// The operation has let go of it. An unanswered one is answered EIO.
  void end(PendingRequest& pending);
  /// Sends the one answer. True when the kernel took it.
  bool answer(PendingRequest& pending, int error_number, std::span<const std::byte> body = {});
  /// The kernel asks for a request to be interrupted. One that is answered is let be.
  void interrupt(const Message& message);

  /// A request whose operation still runs was answered early, because its caller is gone or its
  /// patience was over.
  bool released(std::uint64_t unique);
  /// Operations that still run, answered or not.
  std::size_t running() const { return running_; }
  /// Called once, when no operation runs any more (at once when that is so already).
  void when_idle(std::function<void()> done);

  /// Requests that were answered, of which the last are kept.
  static constexpr std::size_t kEndedRequests = 1024;
  /// Calls visit(const EndedRequest&) for at most so many of the last answered, in their order.
  template <class Visit>
  void visit_ended(std::size_t most, Visit&& visit) const {
    ended_.visit(most, visit);
  }
  /// How many were answered.
  std::uint64_t ended() const { return ended_.added(); }
  /// Calls visit(const PendingRequest&) for each whose operation still runs, the oldest first.
  template <class Visit>
  void visit_running(Visit&& visit) {
    requests_.for_each(visit);
  }

  ChannelCounters& counters() { return counters_; }
  const ChannelCounters& counters() const { return counters_; }
  Callers& callers() { return callers_; }

 private:
  void note_answer(const PendingRequest& pending, int error_number, std::size_t bytes);
  void interrupted(PendingRequest& pending);
  void release(PendingRequest& pending, int error_number);
  bool release_if_killed(PendingRequest& pending);
  void release_unsignalled(PendingRequest& pending);
  bool is_left_behind(const PendingRequest& pending) const;
  void release_left_behind(PendingRequest& pending);
  /// Of processes that have waited long enough for another file already.
  void release_leaving();
  Duration server_silent_for() const;
  void look_again();
  void release_overdue();

  ChannelCounters counters_;
  Callers callers_;
  IntrusiveList<PendingRequest> requests_;
  Recent<EndedRequest> ended_{kEndedRequests};
  std::size_t running_ = 0;
  std::size_t released_ = 0;  // of these, answered early
  Timer look_again_timer_;
  LeavingProcesses leaving_;
  Timer leaving_timer_;
  Reactor& reactor_;
  const AnswerLimit limit_;
  Timer overdue_timer_;
  std::function<void()> idle_;
};

}  // namespace nfsrdma::fuse
