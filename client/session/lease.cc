#include "client/session/lease.h"

#include <cerrno>

namespace nfsrdma::client {
namespace {

/// A renewal that fails is repeated after this part of what is then left of the lease.
constexpr int kRepetitionsPerRest = 3;

}  // namespace

LeaseKeeper::LeaseKeeper(Reactor& reactor, Session& session, Trunk& trunk)
    : reactor_(reactor),
      session_(session),
      trunk_(trunk),
      timer_(reactor, [this] { on_timer(); }),
      silence_(reactor, [this] { on_silence(); }) {}

void LeaseKeeper::start() {
  running_ = true;
  arm();
}

void LeaseKeeper::stop() {
  running_ = false;
  timer_.cancel();
  silence_.cancel();
}

void LeaseKeeper::arm() {
  const Duration due = session_.renewed_at() + interval() - reactor_.now();
  timer_.arm(std::max(due, Duration::zero()));
}

void LeaseKeeper::on_timer() {
  if (!running_ || renewing_) return;
  if (session_.renewed_at() + interval() > reactor_.now()) {
    arm();  // ordinary requests have renewed the lease meanwhile
    return;
  }
  renewing_ = true;
  silence_.arm(session_.limits().lease_time - interval());
  session_.background().start(renew());
}

Task<void> LeaseKeeper::renew() {
  auto renewed = co_await session_.renew();
  renewing_ = false;
  silence_.cancel();
  renewals_.add();
  if (!running_) co_return;
  if (renewed) {
    arm();
    co_return;
  }
  failures_.add();
  lines_.warning(reactor_.now(), "lease renewal: {}", renewed.error().message());
  timer_.arm((session_.limits().lease_time - interval()) / kRepetitionsPerRest);
}

void LeaseKeeper::on_silence() {
  const TimePoint due = session_.renewed_at() + interval();
  if (due > reactor_.now()) {
    // Others were answered. This one has to be when the next is due: there is no other till then.
    silence_.arm(due - reactor_.now());
    return;
  }
  if (trunk_.drop(Error::local(ETIMEDOUT, "lease renewal", "the server does not answer"))) {
    lines_.warning(reactor_.now(), "no answer to the lease renewal: the connection is made anew");
  }
  silence_.arm(session_.limits().lease_time - interval());
}

void LeaseKeeper::visit_counters(CounterVisitor& visitor) const {
  visitor.visit("lease_renewals", renewals_.value());
  visitor.visit("lease_renewal_failures", failures_.value());
}

}  // namespace nfsrdma::client
