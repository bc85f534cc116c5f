#include "client/session/attempt.h"

namespace nfsrdma::client {
namespace {

Step first_step(Attempt::Kind kind) {
  switch (kind) {
    case Attempt::Kind::ordinary: return Step::wait_for_state;
    case Attempt::Kind::recovery: return Step::take_slot;
    case Attempt::Kind::resolution: return Step::connect;
  }
  return Step::fail;
}

}  // namespace

Attempt::Attempt(Kind kind) : kind_(kind), step_(first_step(kind)) {}

Step Attempt::next(Outcome outcome) {
  switch (outcome) {
    case Outcome::state_known: tries_ = 0; return Step::take_slot;
    case Outcome::session_changed: return Step::take_slot;
    case Outcome::slot_taken:
      corrections_ = 0;
      in_its_slot_ = {};
      return Step::connect;
    case Outcome::numbered:
    case Outcome::connection_lost: return Step::connect;
    case Outcome::connected: return Step::send;
    case Outcome::not_sent: return pause(in_its_slot_, Step::connect);
    case Outcome::sequence_delayed: return pause(in_its_slot_, Step::number);
    case Outcome::corrected: return ++corrections_ < kMaxTries ? Step::number : another_slot();
    case Outcome::slot_left: return another_slot();
    case Outcome::state_refused:
      return ++refusals_ <= kMaxRefusals ? Step::wait_for_state : Step::done;
    case Outcome::put_off: return pause(put_off_, Step::wait_for_state);
    case Outcome::file_open:
      return ++file_opens_ <= kMaxFileOpens ? pause(put_off_, Step::wait_for_state) : Step::done;
    case Outcome::answered: return Step::done;
    case Outcome::waited: return after_pause_;
    case Outcome::failed: return Step::fail;
  }
  return Step::fail;
}

Step Attempt::another_slot() {
  if (kind_ == Kind::resolution) return Step::fail;
  return ++tries_ < kMaxTries ? Step::take_slot : Step::fail;
}

Step Attempt::pause(Backoff& backoff, Step then) {
  pause_ = backoff.next();
  after_pause_ = then;
  return Step::pause;
}

bool Attempt::keeps_slot() const {
  const Step step = step_ == Step::pause ? after_pause_ : step_;
  return step == Step::number || step == Step::connect || step == Step::send;
}

}  // namespace nfsrdma::client
