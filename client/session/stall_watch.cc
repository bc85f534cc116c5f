#include "client/session/stall_watch.h"

#include <fmt/format.h>

#include "client/compound/operation_names.h"
#include "transport/base/log.h"

namespace nfsrdma::client {
namespace {

const char* text(WaitsFor what) {
  switch (what) {
    case WaitsFor::slot: return "a slot";
    case WaitsFor::connection: return "a connection";
    case WaitsFor::answer: return "being sent";
    case WaitsFor::pause: return "the end of a pause";
    case WaitsFor::recovery: break;
  }
  return "the end of a recovery";
}

}  // namespace

StallWatch::StallWatch(Reactor& reactor, Session& session, const StateObserver& recovery,
                       const Trunk& trunk)
    : reactor_(reactor),
      session_(session),
      recovery_(recovery),
      trunk_(trunk),
      timer_(reactor, [this] { look(); }) {}

// The request that has waited longest stands for all. It must be found twice, because within one
// turn of the reactor its wake-up may be posted already.
void StallWatch::look() {
  start();
  const LongestWait wait = session_.longest_wait();
  const bool stuck = wait.compound && nothing_in_the_way(*wait.compound);
  const bool before = std::exchange(candidate_, stuck ? std::optional(wait.since) : std::nullopt) ==
                      std::optional(wait.since);
  if (!stuck || !before || reported_ == wait.since) return;
  reported_ = wait.since;
  stalls_.add();
  report(wait);
}

bool StallWatch::nothing_in_the_way(const Compound& compound) const {
  switch (compound.waits_for()) {
    case WaitsFor::slot: return session_.slots().is_open() && session_.slots().in_use() == 0;
    case WaitsFor::connection: return trunk_.up();
    case WaitsFor::answer: return trunk_.up() && trunk_.calls_in_flight() == 0;
    case WaitsFor::pause: return false;
    case WaitsFor::recovery: break;
  }
  return !recovery_.recovering();
}

void StallWatch::report(const LongestWait& wait) const {
  const std::chrono::duration<double> waited = reactor_.now() - wait.since;
  const SlotTable& slots = session_.slots();
  log::error(
      "{} has waited {:.1f} s for {} with nothing in the way; connection {}, {} calls open, {} in "
      "flight; slots {}, {} of {} in use, {} wait for one; recovery {}. Please report this",
      operation_names(*wait.compound), waited.count(), text(wait.compound->waits_for()),
      trunk_.up() ? "up" : "down", trunk_.open_calls(), trunk_.calls_in_flight(),
      slots.is_open() ? "open" : "held", slots.in_use(), slots.usable(), slots.waiting(),
      recovery_.recovering() ? "in progress" : "none");
}

void StallWatch::visit_counters(CounterVisitor& visitor) const {
  visitor.visit("stalls", stalls_.value());
}

}  // namespace nfsrdma::client
