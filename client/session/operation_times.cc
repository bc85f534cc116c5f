#include "client/session/operation_times.h"

#include <fmt/format.h>

namespace nfsrdma::client {
namespace {

void visit_times(std::string_view prefix, const Histogram& times, CounterVisitor& visitor) {
  const auto visit = [&](std::string_view what, Histogram::Time time) {
    const auto rounded_up = std::chrono::ceil<std::chrono::microseconds>(time);
    visitor.visit(fmt::format("{}_us_{}", prefix, what),
                  static_cast<std::uint64_t>(rounded_up.count()));
  };
  // Readers take differences of it: rounded down, it never goes back.
  const auto sum = std::chrono::floor<std::chrono::microseconds>(times.sum());
  visitor.visit(fmt::format("{}_us_sum", prefix), static_cast<std::uint64_t>(sum.count()));
  visit("mean", times.mean());
  visit("p50", times.percentile(50));
  visit("p90", times.percentile(90));
  visit("p99", times.percentile(99));
  visit("max", times.longest());
}

}  // namespace

void OperationTimes::add(const Span& span) {
  requests.add();
  sends.add(span.sends);
  delays.add(span.delays);
  bytes_sent.add(span.bytes_sent);
  bytes_received.add(span.bytes_received);
  execute.add(span.ended - span.begun);
  if (span.call.sent != TimePoint{0}) queue.add(span.queued());
  if (span.layer == Layer::nfs) round_trip.add(span.at_server());
  if (span.failed()) {
    errors.add();
    count_failure(span.layer, span.code);
  }
}

void OperationTimes::count_failure(Layer layer, int code) {
  if (layer != Layer::nfs) code = 0;  // by layer only
  for (Outcome& outcome : outcomes_) {
    if (outcome.count.value() == 0) {
      outcome.layer = layer;
      outcome.code = code;
    }
    if (outcome.layer == layer && outcome.code == code) return outcome.count.add();
  }
}

void OperationTimes::visit_counters(std::string_view operation, CounterVisitor& visitor) const {
  const std::string prefix = fmt::format("nfs_{}", operation);
  PrefixedVisitor prefixed(prefix, visitor);
  prefixed.visit("requests", requests.value());
  prefixed.visit("sends", sends.value());
  prefixed.visit("delays", delays.value());
  prefixed.visit("bytes_sent", bytes_sent.value());
  prefixed.visit("bytes_received", bytes_received.value());
  prefixed.visit("errors", errors.value());
  visit_failures([&](Layer layer, int code, std::uint64_t count) {
    prefixed.visit("errors_" + outcome_of(layer, code), count);
  });
  visit_times("queue", queue, prefixed);
  visit_times("rtt", round_trip, prefixed);
  visit_times("execute", execute, prefixed);
}

}  // namespace nfsrdma::client
