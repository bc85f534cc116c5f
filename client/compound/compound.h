// One COMPOUND request: encoded once into a pooled rpc::Call, sent as often as the protocol asks,
// its results read in the order of the operations.
#pragma once

#include <array>
#include <coroutine>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "client/compound/compound_reader.h"
#include "client/compound/span.h"
#include "client/compound/state_holder.h"
#include "client/compound/without_caller.h"
#include "client/proto/codec.h"
#include "client/proto/object.h"
#include "client/proto/operations.h"
#include "transport/base/intrusive_list.h"
#include "transport/base/reactor.h"
#include "transport/rpc/call.h"

namespace nfsrdma::client {

/// What a request waits for that has not ended.
enum class WaitsFor : std::uint8_t { slot, connection, answer, pause, recovery };

/// Builder and reader of one COMPOUND. Pooled; see CompoundPool. Nothing here allocates.
///
/// begin(), add() ..., seal(); then Session::execute(); then results().
class Compound : public ListNode {
 public:
  static constexpr std::size_t kMaxOperations = 16;

  explicit Compound(Buffer head) : call_(std::move(head)) {}

  /// Whether it carries the session's own needs (Urgency::reserved). Set before begin().
  void set_urgency(rpc::Urgency urgency) { urgency_ = urgency; }
  rpc::Urgency urgency() const { return urgency_; }

  /// Starts an empty request that opens with SEQUENCE, whose arguments set_sequence() fills in.
  void begin(const Credential& caller, std::string_view machine_name);
  /// Starts a request without SEQUENCE: for the operations that stand alone (EXCHANGE_ID, ...).
  void begin_unsequenced(const Credential& caller, std::string_view machine_name);

  /// Appends an operation. What else must be known of it is in its row
  /// (client/proto/operations.def): the bound of its result, and whether it changes something on
  /// the server. Once such a one has succeeded, a later operation's NFS4ERR_DELAY must not repeat
  /// the whole request.
  template <class Args>
  void add(const Args& args) {
    using Row = nfs4::OperationRow<Args>;
    static_assert(Row::facts.minor_version <= nfs4::kNfsMinorVersion1);
    append(Args::opnum, Row::facts, Row::max_result(args));
    nfs4::encode(call_.encoder, args);
  }
  /// The operation added next uses this state, if it is one: its arguments have the stateid behind
  /// so many bytes. An operation with two stateids gets them by two calls.
  void use_state(StateRef state, std::size_t bytes_before = 0);
  /// The sizes were chosen for the session of the moment. Where another session allows less,
  /// Session::execute() fails with is_too_large(), and the caller encodes the operation again.
  void set_divisible() { divisible_ = true; }
  bool divisible() const { return divisible_; }
  /// Nobody wants the change any more once its caller is gone: what has not been sent by then, or
  /// was put off, is not sent.
  void set_ends_with_caller(WithoutCaller without = WithoutCaller::ends) {
    ends_with_caller_ = without == WithoutCaller::ends;
  }
  bool ends_with_caller() const { return ends_with_caller_; }
  /// Completes the request. An error when it does not fit the message slot or the operation limit.
  Result<void> seal();

  /// Makes it a new request: another XID. Not for sending it again after a lost connection.
  void set_xid(std::uint32_t xid);
  /// Fills in the arguments of SEQUENCE.
  void set_sequence(const nfs4::SEQUENCE4args& args);
  /// Fills in the stateids that are current now.
  void set_stateids();

  /// The states of use_state(): whether one is lost, or is being recovered.
  bool state_lost() const;
  bool state_recovering() const;
  /// The server has refused a stateid that was sent (the reply has been opened).
  bool state_refused() const;
  /// Tells the states that may be the refused one, and whose stateid is still the one that was
  /// sent; false when there is none.
  bool tell_refused_states();

  /// This was sent, and the server's answer cannot be known yet: the connection was lost, or the
  /// session that it belongs to.
  void set_unanswered(bool unanswered) { unanswered_ = unanswered; }
  bool unanswered() const { return unanswered_; }
  /// The answer may be that of a second execution: an operation that finds its work done already
  /// has done it itself.
  bool maybe_executed() const { return maybe_executed_; }
  void set_maybe_executed() { maybe_executed_ = true; }

  void set_waits_for(WaitsFor what) { waits_for_ = what; }
  WaitsFor waits_for() const { return waits_for_; }
  /// It is about to be given to a connection.
  void note_submission(TimePoint now) {
    call_.times = {.submitted = now};
    ++span_.sends;
    span_.bytes_sent += call_.encoder.message_size();
    waits_for_ = WaitsFor::answer;
  }
  /// Where its time went; filled in by the session (Trace).
  Span& span() { return span_; }
  /// In the order of the request.
  std::span<const nfs4::nfs_opnum4> asked() const { return {asked_.data(), count_}; }

  /// Opens the reply: checks the COMPOUND header and stands at the first result.
  Result<void> open_reply();
  CompoundReader& results() { return reader_; }
  const CompoundReader& results() const { return reader_; }
  /// After the last result was read: the reply itself, for callers that need its views longer.
  rpc::Reply take_reply() { return std::move(**call_.reply); }

  /// Before the request waits to be sent again: the reply's memory is what others may wait for,
  /// those of a recovery too. status() and last_index() of the results stay.
  void drop_reply() { call_.reply.reset(); }
  /// Lets go of the reply, of kept buffers and of the state.
  void clear() {
    call_.reset(0);
    states_ = {};
  }
  rpc::Call& call() { return call_; }
  bool modifying() const { return modifying_; }
  /// Whether the failure of operation `index` leaves nothing done that must not be done again.
  bool repeatable_after(std::uint32_t index) const {
    return !modifying_ || index <= first_modifying_;
  }
  /// Bytes of the reply's results at most, as ca_maxresponsesize counts them without payload.
  std::size_t max_reply() const { return max_reply_; }
  /// Bytes of request and reply as ca_maxrequestsize and ca_maxresponsesize count them.
  std::size_t request_bytes() const { return call_.encoder.message_size(); }
  std::size_t reply_bytes() const { return max_reply_ + call_.result_sink.size(); }
  std::uint32_t operations() const { return count_; }
  /// When the request that was answered had been sent; the lease is renewed as of then.
  void set_sent_at(TimePoint time) { sent_at_ = time; }
  TimePoint sent_at() const { return sent_at_; }

 private:
  static constexpr std::size_t kMaxStates = 2;
  /// What use_state() named.
  struct UsedState {
    StateRef holder;  // null: no state
    nfs4::stateid4 sent{};
    std::size_t bytes_before = 0;  // of the arguments before its stateid
    std::size_t at = 0;            // where its stateid is encoded; 0: the operation comes next
    std::uint32_t index = 0;       // of the operation that uses it
  };

  bool is_refused(const UsedState& used) const;
  void start(const Credential& caller, std::string_view machine_name);
  void append(nfs4::nfs_opnum4 opnum, const nfs4::OperationFacts& facts, std::size_t max_result);

  rpc::Call call_;
  CompoundReader reader_;
  std::array<nfs4::nfs_opnum4, kMaxOperations> asked_{};
  std::uint32_t count_ = 0;
  std::uint32_t first_modifying_ = 0;
  bool modifying_ = false;
  bool divisible_ = false;
  bool ends_with_caller_ = false;
  rpc::Urgency urgency_ = rpc::Urgency::ordinary;
  std::size_t count_at_ = 0;     // where the number of operations is encoded
  std::size_t sequence_at_ = 0;  // where SEQUENCE's arguments are encoded; 0: there is none
  std::size_t max_reply_ = 0;
  TimePoint sent_at_{0};
  std::array<UsedState, kMaxStates> states_;
  WaitsFor waits_for_ = WaitsFor::slot;
  Span span_;
  bool unanswered_ = false;
  bool maybe_executed_ = false;
};

}  // namespace nfsrdma::client
