// The NFSv4.1 session (RFC 8881 section 2.10): every request of the mount gets its slot and
// sequence number here, is sent until it has an answer, and is repeated when the server puts it off
// (NFS4ERR_DELAY).
//
// One request, from execute() on (run(); the table of what follows what is
// client/session/attempt.h):
//   1. a slot is taken, SEQUENCE filled in, a new XID given;
//   2. it is sent on the connection of the moment. When that is lost, the same bytes (XID, slot,
//      sequence number) go out again on the next one, after the session was bound to it
//      (V1-4.5.5-1, E-8881-14). Nothing is ever sent twice on a connection that lives (E-8881-2);
//   3. SEQUENCE's result is judged: only its success moves the slot on;
//   4. NFS4ERR_DELAY and NFS4ERR_GRACE are waited for and repeated with a new sequence number,
//      unless an operation before has already changed something. A DELAY that lasts longer than a
//      lease counts as no answer (waiting_since), and the log tells of it. NFS4ERR_FILE_OPEN is
//      repeated likewise, but four times only: the file may stay open for ever;
//   5. a stateid that the server refuses is recovered, and the request repeated with the new one.
// client/recovery restores session, client id and state that the server has lost; requests wait
// meanwhile, and start over with slots of the new session. A request that was sent and not answered
// may then be executed twice: Compound::maybe_executed() tells its operation.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "client/compound/compound_pool.h"
#include "client/session/attempt.h"
#include "client/session/delay_report.h"
#include "client/session/limits.h"
#include "client/session/patience.h"
#include "client/session/slot_table.h"
#include "client/session/trace.h"
#include "client/trunk/trunk.h"
#include "transport/base/metrics.h"
#include "transport/base/origin.h"
#include "transport/base/reactor.h"
#include "transport/base/sync/pauses.h"
#include "transport/base/sync/task_group.h"
#include "transport/base/sync/wait_queue.h"

namespace nfsrdma::client {

/// Told what requests find out about the state at the server. Calls return at once.
class StateObserver {
 public:
  /// A SEQUENCE has succeeded with these SEQ4_STATUS_* flags; comes for every one with flags, and
  /// once when the last flag has gone.
  virtual void on_status_flags(std::uint32_t flags) = 0;
  /// The session is gone, or (`kept`) the server has it still, but it cannot be used any more.
  /// `reason` is for the log.
  virtual void on_session_lost(const char* reason, bool kept) = 0;
  /// The connection is not bound to the session.
  virtual void on_not_bound() = 0;
  /// A state has been refused (StateHolder::on_refused has been called).
  virtual void on_state_refused() = 0;
  /// Whether states are being recovered.
  virtual bool recovering() const = 0;
  /// The server may have revoked states, and it is not known yet which.
  virtual bool in_doubt() const = 0;

 protected:
  ~StateObserver() = default;
};

/// The request that has waited longest, and what for; for the log.
struct LongestWait {
  const Compound* compound = nullptr;  ///< null: none waits
  TimePoint since{0};
};

/// Of a request with Compound::set_divisible(): the session has been replaced by one that allows
/// only smaller messages. Nothing has been sent to it.
Error too_large_for_session();
bool is_too_large(const Error& error);
/// Most times that one operation is encoded again because the session's limits have shrunk.
inline constexpr int kMaxSizes = 8;

/// See the head of this file. Belongs to one shard. Give it its observer before
/// the first request.
class Session {
 public:
  Session(Reactor& reactor, CompoundPool& compounds, const Credential& caller, Trunk& trunk);

  /// Not an argument of the constructor: the observer is constructed with this session.
  void observe(StateObserver& observer) { observer_ = &observer; }

  /// A compound that opens with SEQUENCE, to be filled and given to execute(). Waits for one in
  /// turn. Empty when the mount is ending.
  CompoundPool::Acquire compound(const Credential& caller) { return compounds_.acquire(caller); }

  /// Returns at once a compound of the reserve for recovery; empty when none is left.
  CompoundRef reserved_compound(const Credential& caller) {
    return compounds_.begin_reserved(caller);
  }

  /// Seals the request, gets it answered, and leaves the compound's results() behind SEQUENCE. An
  /// error when there is no answer to be had; the operations' own failures are found when their
  /// results are read.
  /// The server's DELAY or GRACE is the answer once the patience with it is over.
  Task<Result<void>> execute(Compound& compound, Patience patience = {});
  /// For the recovery: one try, on this connection, also while other requests are held back. A
  /// refusal by SEQUENCE is an error of Layer::nfs; the caller decides what to do.
  Task<Result<void>> execute_on(rpc::Channel& channel, Compound& compound);
  /// A lone SEQUENCE: renews the lease.
  Task<Result<void>> renew();

  /// A new session, of which the client can use `max_slots` slots. Requests of the old one that are
  /// still unanswered start over. Ordinary ones wait for slots().open().
  /// `asked_at`: when CREATE_SESSION was sent.
  void begin(const nfs4::sessionid4& id, const nfs4::channel_attrs4& fore, std::uint32_t max_slots,
             TimePoint asked_at);
  /// See StateObserver::on_session_lost.
  void lose(const char* reason, bool kept);
  bool lost() const { return lost_; }
  bool begun() const { return begun_; }
  /// A state was found refused, but not by the answer to a request that uses it.
  void state_refused() { observer_->on_state_refused(); }
  /// Returns when no request is on the wire.
  Task<void> drained();
  /// The recovery of states has ended, or has made progress.
  void recovery_ended() { recovery_waiters_.wake_all(); }
  /// The time since which the longest waiting request has waited in its place; now, if none waits.
  TimePoint waiting_since() { return longest_wait().since; }
  LongestWait longest_wait();
  const nfs4::sessionid4& id() const { return id_; }

  /// Of all requests, also those that SessionSetup sends outside of the slots.
  Trace& trace() { return trace_; }
  const Trace& trace() const { return trace_; }
  SlotTable& slots() { return slots_; }
  Pauses& pauses() { return pauses_; }
  TaskGroup& background() { return background_; }
  Limits& limits() { return limits_; }
  const Limits& limits() const { return limits_; }
  /// `gone`: whether the request of the kernel was answered early, because its caller is gone or
  /// its patience over (Compound::set_ends_with_caller).
  void watch_callers(std::function<bool(Origin)> gone) { caller_gone_ = std::move(gone); }
  /// Somebody waits for an unhurried request that has begun: it goes now, or as soon as it can.
  void hurry();
  /// The mount is ending: no request is unhurried from now on.
  void hurry_always();
  /// Trunk::max_inline_reply.
  std::size_t max_inline_reply() const { return trunk_.max_inline_reply(); }
  /// Requests that no program waits for may be sent now: one part in this many of the session's
  /// slots is free, and no request waits for a slot or a credit.
  bool has_room(std::uint32_t part_left) const;
  TimePoint now() const { return reactor_.now(); }
  std::uint32_t next_xid() { return compounds_.next_xid(); }
  /// When the request was sent whose SEQUENCE was the last to succeed; the lease runs from there.
  /// Earlier by as long as this machine has been suspended since.
  TimePoint renewed_at() const { return renewed_at_; }
  /// The server cannot have given delegated state to another client: less than a lease has passed
  /// since the last renewal was sent, and it has reported no revocation (RFC 8881 section 8.3).
  /// Otherwise nothing may be granted here in its place.
  bool lease_holds() {
    look_for_suspension();
    return reactor_.now() - renewed_at_ < limits_.lease_time && !observer_->in_doubt();
  }
  /// Counts the time of a suspension as part of the lease, which went on at the server: that since
  /// the last call.
  void look_for_suspension();
  /// When the last suspension was found.
  TimePoint resumed_at() const { return resumed_at_; }

  /// Every request, waiting or new, fails from now on. The trunk is closed separately.
  void shut_down();

  void visit_counters(CounterVisitor& visitor) const;

 private:
  /// A request as the user sees it, in the order in which they began to wait.
  struct Waiting : ListNode {
    explicit Waiting(const Compound& request) : compound(request) {}
    const Compound& compound;
    TimePoint since{0};
  };

  /// What a request comes with besides its operations.
  struct Terms {
    Attempt::Kind kind = Attempt::Kind::ordinary;
    Patience patience;
    rpc::Channel* only = nullptr;  ///< of the recovery
    SlotHold slot;                 ///< of a resolution
  };

  /// A request that is being answered; lives in the frame of run().
  struct Request {
    Request(Compound& request, Terms& terms, TimePoint now)
        : compound(request),
          attempt(terms.kind),
          put_off(terms.patience, now),
          waiting(request),
          only(terms.only),
          slot(std::move(terms.slot)) {}
    bool is(Attempt::Kind kind) const { return attempt.kind() == kind; }
    Outcome fail(Error why) {
      error = std::move(why);
      return Outcome::failed;
    }
    Compound& compound;
    Attempt attempt;
    PutOff put_off;
    Waiting waiting;
    rpc::Channel* const only;
    rpc::Channel* channel = nullptr;  ///< where it was sent last
    SlotHold slot;
    TimePoint sent_at{0};
    Error error;  ///< why it has failed
  };

  // request.cc: the steps of a request
  Task<Result<void>> run(Compound& compound, Terms terms);
  Result<void> check(Compound& compound, Attempt::Kind kind) const;
  void begin_request(Request& request);
  Outcome on_state_known(Request& request);
  SlotTable::Acquire acquire_slot(Request& request);
  Outcome on_slot(Request& request);
  Outcome number_again(Request& request);
  Result<rpc::Channel*> channel_for(Request& request);
  Outcome on_channel(Request& request, Result<rpc::Channel*> channel);
  void note_sending(Request& request);
  Outcome on_sent(Request& request);
  Outcome on_no_reply(Request& request);
  Outcome on_reply(Request& request);
  Outcome on_executed(Request& request);
  Outcome slot_gone(Request& request);
  Step next(Request& request, Outcome outcome);
  void give_back_slot(Request& request);
  Result<void> end_request(Request& request);
  void restart(Waiting& waiting);
  bool fits(const Compound& compound) const;
  static void note_slot(Compound& compound);
  bool is_waited_for(Compound& compound) const;
  bool is_given_up(Compound& compound) const;
  void note_refused_state(Compound& compound);
  bool must_wait_for_state(const Compound& compound) const;
  bool put_off_for_long(Compound& compound);
  bool asks_for_patience(const Compound& compound) const;
  bool is_file_open(const Compound& compound) const;
  void fill_sequence(Compound& compound, const Slot& slot);
  void fill_again(Compound& compound, const Slot& slot);

  // sequence.cc: what SEQUENCE's answers mean; slots in doubt
  Result<Outcome> judge(Request& request);
  Result<Outcome> judge_sequence(Compound& compound, Slot& slot);
  Result<Outcome> judge_failure(Compound& compound, Slot& slot, Error error);
  Result<Outcome> recover_from(Compound& compound, Error error);
  Result<Outcome> judge_resolution(Compound& compound, Slot& slot);
  Result<void> check_echo(const nfs4::SEQUENCE4resok& result, const Slot& slot) const;
  void note_success(const nfs4::SEQUENCE4resok& result, Slot& slot);
  void note_renewal(TimePoint sent_at);
  void note_uncertain(Compound& compound);
  void resolve_slots();
  Task<void> resolve_in_doubt();
  Task<SlotHold> next_in_doubt();
  Error give_up(const char* why) const;

  Reactor& reactor_;
  CompoundPool& compounds_;
  const Credential caller_;
  Trunk& trunk_;
  StateObserver* observer_ = nullptr;
  SlotTable slots_;
  Pauses pauses_;
  TaskGroup background_;
  WaitQueue drain_waiters_;
  WaitQueue recovery_waiters_;
  IntrusiveList<Waiting> waiting_;
  Trace trace_;
  Limits limits_;
  std::size_t on_the_wire_ = 0;
  nfs4::sessionid4 id_{};
  bool begun_ = false;
  bool lost_ = false;
  bool resolving_ = false;
  std::uint32_t status_flags_ = 0;
  TimePoint renewed_at_{0};
  std::optional<Duration> suspended_;  // all of it that renewed_at_ counts
  TimePoint resumed_at_{0};
  TimePoint hurried_{0};  // unhurried requests that began before are prompt
  std::function<bool(Origin)> caller_gone_;
  DelayReport delay_report_;

  Counter requests_;
  Counter resent_;
  Counter delayed_;
  Counter misordered_;
  Counter resolved_;
  Counter lost_sessions_;
  Counter flag_changes_;
  Counter states_refused_;
  Counter uncertain_;
};

}  // namespace nfsrdma::client
