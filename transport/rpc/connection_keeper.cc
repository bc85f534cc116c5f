#include "transport/rpc/connection_keeper.h"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <utility>

#include "transport/base/log.h"
#include "transport/base/probe.h"

namespace nfsrdma::rpc {
namespace {

Duration doubled(Duration pause, Duration first, Duration longest) {
  return pause == Duration::zero() ? first : std::min(2 * pause, longest);
}

}  // namespace

ConnectionKeeper::ConnectionKeeper(Reactor& reactor, ChannelFactory& factory, ChannelBinder& binder,
                                   BackwardCallHandler& callbacks, ReconnectPolicy policy)
    : reactor_(reactor),
      factory_(factory),
      binder_(binder),
      callbacks_(callbacks),
      policy_(policy),
      pause_timer_(reactor, [this] { attempt(); }),
      attempt_timer_(reactor, [this] { give_up_attempt(); }),
      state_changed_(reactor) {}

ConnectionKeeper::~ConnectionKeeper() { assert(state_ == State::idle || state_ == State::closed); }

Task<Result<void>> ConnectionKeeper::start() {
  assert(state_ == State::idle && !closing_);
  attempt();
  while (state_ == State::connecting || state_ == State::binding || state_ == State::ending) {
    co_await state_changed_.wait();
  }
  if (!started_) co_return fail(*reason_);
  co_return Result<void>{};
}

Task<Result<Channel*>> ConnectionKeeper::ready() {
  while (!channel() && !closing_) {
    co_await state_changed_.wait();
  }
  if (closing_) co_return fail(Error::local(ESHUTDOWN, "wait for a connection"));
  co_return channel();
}

bool ConnectionKeeper::drop(Error reason) {
  if (!channel_ || channel_down_ || state_ == State::ending) return false;
  end_channel(std::move(reason));
  return true;
}

void ConnectionKeeper::try_at_once() {
  if (state_ == State::pausing) pause_timer_.arm(Duration::zero());
}

Task<void> ConnectionKeeper::close() {
  closing_ = true;
  pause_timer_.cancel();
  attempt_timer_.cancel();
  if (channel_ && !channel_down_) {
    end_channel(Error::local(ESHUTDOWN, "disconnect"));
  } else if (!channel_) {
    state_ = State::closed;
  }
  state_changed_.wake_all();
  while (state_ != State::closed) {
    co_await state_changed_.wait();
  }
}

void ConnectionKeeper::attempt() {
  state_ = State::connecting;
  reason_.reset();
  proven_ = false;
  replies_ = 0;
  attempts_.add();
  attempt_begun_ = reactor_.now();
  NFSRDMA_PROBE(xprt_connect, this);
  auto made = factory_.connect(*this);
  if (!made) {
    reason_ = std::move(made.error());
    after_failure();
    return;
  }
  channel_ = std::move(*made);
  channel_down_ = false;
  if (started_) attempt_timer_.arm(std::max(binder_.longest_pause(), kShortestAttempt));
}

void ConnectionKeeper::give_up_attempt() {
  if (state_ != State::connecting || channel_down_) return;
  end_channel(Error::local(ETIMEDOUT, "connect", "no answer"));
}

void ConnectionKeeper::on_channel_up() {
  if (state_ != State::connecting) return;
  state_ = State::binding;
  attempt_timer_.cancel();
  spawn(bind());
}

Task<void> ConnectionKeeper::bind() {
  binding_task_ = true;
  binder_knows_ = true;
  auto bound = co_await binder_.on_new_channel(*channel_);
  binding_task_ = false;
  if (bound && state_ == State::binding) {
    become_ready();
  } else if (channel_down_) {
    finish_channel();
  } else if (state_ == State::binding) {
    end_channel(std::move(bound.error()));
  }
}

bool ConnectionKeeper::rebind() {
  if (state_ != State::ready) return false;
  state_ = State::binding;
  spawn(bind());
  return true;
}

void ConnectionKeeper::become_ready() {
  state_ = State::ready;
  const bool again = std::exchange(proven_, true);
  if (!again) bound_at_ = reactor_.now();
  if (started_ && !again) {
    reconnects_.add();
    // At the level that its loss was said at.
    again_lines_.warning(bound_at_, "{}: connected again", factory_.description());
  }
  NFSRDMA_PROBE(connection_ready, this, (reactor_.now() - attempt_begun_).count());
  started_ = true;
  state_changed_.wake_all();
}

void ConnectionKeeper::on_channel_closing(const Error& reason) {
  if (!reason_) reason_ = reason;
  state_ = State::ending;
}

void ConnectionKeeper::on_backward_call(BackwardCall& call) { callbacks_.on_backward_call(call); }

void ConnectionKeeper::on_channel_down(const Error& reason) {
  if (!reason_) reason_ = reason;
  state_ = State::ending;
  channel_down_ = true;
  attempt_timer_.cancel();
  replies_ = channel_->replies();
  NFSRDMA_PROBE(xprt_disconnect_done, this, static_cast<int>(reason_->layer), reason_->code);
  if (!binding_task_) finish_channel();
}

void ConnectionKeeper::end_channel(Error reason) {
  if (!reason_) reason_ = reason;
  state_ = State::ending;
  channel_->close(std::move(reason));
}

void ConnectionKeeper::finish_channel() {
  of_last_channel_.clear();
  channel_->visit_counters(of_last_channel_);
  reactor_.dispose(std::move(channel_));
  if (binder_knows_) {
    binder_knows_ = false;
    binder_.on_channel_lost(*reason_);
  }
  after_failure();
}

void ConnectionKeeper::after_failure() {
  if (!proven_) failures_.add();
  if (closing_) {
    state_ = State::closed;
  } else if (factory_.try_again_at_once()) {
    return attempt();
  } else if (!started_) {
    state_ = State::idle;
  } else {
    state_ = State::pausing;
    const Duration pause = next_pause();
    announce_loss(pause);
    pause_timer_.arm(pause);
  }
  state_changed_.wake_all();
}

void ConnectionKeeper::announce_loss(Duration pause) {
  const double seconds = std::chrono::duration<double>(pause).count();
  if (proven_) {
    loss_lines_.warning(reactor_.now(), "{}: {}; next attempt in {:.3g} s", factory_.description(),
                        reason_->message(), seconds);
  } else {
    log::warning("{}: {}; next attempt in {:.3g} s", factory_.description(), reason_->message(),
                 seconds);
  }
}

Duration ConnectionKeeper::next_pause() {
  const bool worked = proven_ && replies_ > 0;
  if (worked) {
    pause_ = policy_.first;  // before the attempt after the next, should that one fail
    return std::min(next_brief_pause(), binder_.longest_pause());
  }
  const Duration pause = std::min(pause_, binder_.longest_pause());
  pause_ = doubled(pause_, policy_.first, policy_.longest);
  const Duration taken = proven_ ? Duration::zero() : reactor_.now() - attempt_begun_;
  return std::max(pause - taken, Duration::zero());
}

Duration ConnectionKeeper::next_brief_pause() {
  if (reactor_.now() - bound_at_ >= policy_.proof) {
    brief_pause_ = Duration::zero();
    return Duration::zero();
  }
  return std::exchange(brief_pause_,
                       doubled(brief_pause_, policy_.first_brief, policy_.longest_brief));
}

void ConnectionKeeper::visit_counters(CounterVisitor& visitor) const {
  visitor.visit("connect_attempts", attempts_.value());
  visitor.visit("connect_failures", failures_.value());
  visitor.visit("reconnects", reconnects_.value());
  if (!channel_) return of_last_channel_.replay(visitor);
  channel_->visit_counters(visitor);
}

}  // namespace nfsrdma::rpc
