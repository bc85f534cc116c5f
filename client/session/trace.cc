#include "client/session/trace.h"

#include <fmt/format.h>

#include "client/compound/operation_names.h"
#include "transport/base/log.h"
#include "transport/base/probe.h"

namespace nfsrdma::client {
namespace {

const char* waits_for_text(Compound& compound) {
  switch (compound.waits_for()) {
    case WaitsFor::slot: return "a session slot";
    case WaitsFor::connection: return "a connection";
    case WaitsFor::pause: return "the end of a pause";
    case WaitsFor::recovery: return "the recovery of its state";
    case WaitsFor::answer: break;
  }
  const bool sent = compound.call().times.sent != TimePoint{0};
  return sent ? "the server's answer" : "a credit of the connection";
}

}  // namespace

Trace::~Trace() {
  for (auto& times : operations_) delete times.load();
}

void Trace::begin(Compound& compound, TimePoint now) {
  Span& span = compound.span();
  span = {};
  span.origin = present_origin();
  span.begun = now;
  span.operation = main_operation(compound.asked());
  compound.call().times = {};
  in_flight_.push_back(compound);
  NFSRDMA_PROBE(rpc_task_begin, &compound, span.origin, static_cast<int>(span.operation));
}

void Trace::end(Compound& compound, const Result<void>& outcome, TimePoint now) {
  compound.unlink();
  Span& span = compound.span();
  rpc::Call& call = compound.call();
  span.xid = call.xid;
  span.call = call.times;
  span.ended = now;
  if (outcome) {
    span.code = compound.results().status();
    if (call.reply && *call.reply) span.bytes_received = (*call.reply)->results.size();
  } else {
    span.layer = outcome.error().layer;
    span.code = outcome.error().code;
  }
  NFSRDMA_PROBE(rpc_stats_latency, span.xid, static_cast<int>(span.operation),
                span.queued().count(), span.at_server().count(), (now - span.begun).count(),
                static_cast<int>(span.layer), span.code);
  NFSRDMA_PROBE(rpc_task_end, &compound, span.origin, static_cast<int>(span.operation));
  ended_.add(span);
  if (log::enabled(log::Level::debug)) log::debug("{}", to_text(span));
  times_of(span.operation).add(span);
  if (!span.failed()) shortest_.note(span.at_server());
}

OperationTimes& Trace::times_of(nfs4::nfs_opnum4 operation) {
  const auto opnum = static_cast<std::size_t>(operation);
  const std::size_t index = opnum < kOperations ? opnum : 0;
  OperationTimes* times = operations_[index].load(std::memory_order_relaxed);
  if (!times) {
    times = new OperationTimes;
    operations_[index].store(times, std::memory_order_release);
  }
  return *times;
}

void Trace::visit_counters(CounterVisitor& visitor) const {
  visit_operations([&](nfs4::nfs_opnum4 operation, const OperationTimes& times) {
    times.visit_counters(nfs4::operation_name(operation), visitor);
  });
}

std::string waiting_text(Compound& compound, TimePoint now) {
  const Span& span = compound.span();
  std::string text =
      fmt::format("{} xid {:#x}", nfs4::operation_name(span.operation), compound.call().xid);
  if (span.slot != Span::kNoSlot) text += fmt::format(" slot {}", span.slot);
  if (span.origin != kNoOrigin) text += fmt::format(" for request {}", span.origin);
  const std::chrono::duration<double> waited = now - span.begun;
  return text +
         fmt::format(" began {:.3f} s ago, waits for {}", waited.count(), waits_for_text(compound));
}

}  // namespace nfsrdma::client
