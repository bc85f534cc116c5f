// What a request does next: the whole life of one request as a table, without I/O.
//
//   after                what has happened                     next step             at most
//   wait_for_state       state_known: no state that it uses    take_slot
//                        is being recovered
//   take_slot            slot_taken                            connect
//                        session_changed while it waited       take_slot
//   connect              connected                             send
//   number               numbered: SEQUENCE filled in again    connect
//   send, no reply       connection_lost                       connect               until poison
//                        not_sent: the connection lacks        pause, connect
//                        memory to expose
//   send, refused by     corrected: the slot's number is put   number                kMaxTries
//   SEQUENCE             right, or the connection bound
//                        sequence_delayed: DELAY               pause, number
//                        slot_left: number used up, slot       take_slot             kMaxTries
//                        refused, or session lost
//   send, executed       state_refused                         wait_for_state        kMaxRefusals
//                        put_off: DELAY or GRACE               pause, wait_for_state its Patience
//                        file_open: FILE_OPEN                  pause, wait_for_state kMaxFileOpens
//                        answered                              done
//   pause                waited                                the step after it
//   any                  failed                                fail
//
// slot_left may come after each step that waits: the session has been replaced meanwhile. Once a
// bound is reached, what has happened is the outcome: corrected becomes slot_left, slot_left fails,
// and the others are answers. A request of the recovery starts at take_slot, one that resolves a
// slot at connect, with that slot: it fails when the slot is gone.
//
// So a request is executed once and 8 times more at most, apart from DELAY and GRACE, each time on
// 8 slots at most. The same bytes go out again only on another connection, until the call is poison
// (rpc::Call::is_poison).
#pragma once

#include <cstdint>

#include "transport/base/sync/pauses.h"

namespace nfsrdma::client {

/// Session::run() takes them; see the head of this file.
enum class Step : std::uint8_t {
  wait_for_state,
  take_slot,
  number,
  connect,
  send,
  pause,
  done,
  fail
};

/// What a step has led to; see the head of this file.
enum class Outcome : std::uint8_t {
  state_known,
  slot_taken,
  session_changed,
  numbered,
  connected,
  connection_lost,
  not_sent,
  corrected,
  sequence_delayed,
  slot_left,
  state_refused,
  put_off,
  file_open,
  answered,
  waited,
  failed,
};

/// The place of one request in the table at the head of this file. A value.
class Attempt {
 public:
  enum class Kind : std::uint8_t {
    ordinary,
    recovery,    ///< on one connection, with a slot that is free at once; never put off
    resolution,  ///< of a slot in doubt: a lone SEQUENCE
  };
  /// New numbers, slots or sessions that one execution may try.
  static constexpr int kMaxTries = 8;
  /// Times that the request's state may be refused and recovered.
  static constexpr int kMaxRefusals = 4;
  /// Pauses for NFS4ERR_FILE_OPEN, 1.5 s in all, as the Linux client makes them.
  static constexpr int kMaxFileOpens = 4;

  explicit Attempt(Kind kind);

  Kind kind() const { return kind_; }
  Step step() const { return step_; }
  /// Goes to the next step, and returns it.
  Step after(Outcome outcome) { return step_ = next(outcome); }
  /// How long Step::pause lasts. Its slot stays taken meanwhile, if it has one.
  Duration pause() const { return pause_; }
  /// False: the slot goes back to the table.
  bool keeps_slot() const;

 private:
  Step next(Outcome outcome);
  Step another_slot();
  Step pause(Backoff& backoff, Step then);

  Kind kind_;
  Step step_;
  Step after_pause_ = Step::fail;
  Duration pause_{0};
  Backoff put_off_;      // between executions
  Backoff in_its_slot_;  // while it keeps its slot
  int tries_ = 0;
  int corrections_ = 0;
  int refusals_ = 0;
  int file_opens_ = 0;
};

}  // namespace nfsrdma::client
