#include "client/session/lease.h"

#include <cerrno>
#include <utility>

namespace nfsrdma::client {
namespace {

/// A renewal that fails is repeated after this part of what is then left of the lease.
constexpr int kRepetitionsPerRest = 3;
constexpr Duration kSuspensionLooks = std::chrono::seconds(5);

}  // namespace

LeaseKeeper::LeaseKeeper(Reactor& reactor, Session& session, Trunk& trunk)
    : reactor_(reactor),
      session_(session),
      trunk_(trunk),
      timer_(reactor, [this] { on_timer(); }),
      silence_(reactor, [this] { on_silence(); }),
      look_(reactor, [this] { on_look(); }) {}

void LeaseKeeper::start() {
  running_ = true;
  on_look();
  arm();
}

void LeaseKeeper::stop() {
  running_ = false;
  timer_.cancel();
  silence_.cancel();
  look_.cancel();
}

// No timer ends by a suspension. Until the lease is renewed, the kernel may show pages of files
// whose delegation the server has given to others.
void LeaseKeeper::on_look() {
  look_.arm(kSuspensionLooks);
  session_.look_for_suspension();
  if (std::exchange(resumed_at_, session_.resumed_at()) != session_.resumed_at()) arm();
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
  await_answer();
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

void LeaseKeeper::await_answer() {
  replies_ = trunk_.replies();
  silence_.arm(session_.limits().lease_time - interval());
}

// While others are answered the connection is as good as any: this request may wait behind what
// fills a slow line, and a new connection would have all of that sent once more before it. Looked
// at again and again: there is no other renewal until this one has ended.
void LeaseKeeper::on_silence() {
  if (trunk_.up() && trunk_.replies() != replies_) return await_answer();
  if (trunk_.drop(Error::local(ETIMEDOUT, "lease renewal", "the server does not answer"))) {
    lines_.warning(reactor_.now(), "no answer to the lease renewal: the connection is made anew");
  }
  await_answer();
}

void LeaseKeeper::visit_counters(CounterVisitor& visitor) const {
  visitor.visit("lease_renewals", renewals_.value());
  visitor.visit("lease_renewal_failures", failures_.value());
}

}  // namespace nfsrdma::client
