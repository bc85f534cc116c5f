#include "client/compound/span.h"

#include <fmt/format.h>

#include "client/proto/status.h"

namespace nfsrdma::client {
namespace {

/// Between two stages, in microseconds; "-" when the later one was not reached.
std::string between(TimePoint from, TimePoint to) {
  if (to == TimePoint{0}) return "-";
  return fmt::format("{:.1f} us", std::chrono::duration<double, std::micro>(to - from).count());
}

}  // namespace

std::string outcome_of(Layer layer, int code) {
  if (layer != Layer::nfs) return std::string(layer_name(layer));
  return std::string(nfs4::status_name(static_cast<nfs4::nfsstat4>(code)));
}

std::string to_text(const Span& span) {
  std::string text = fmt::format("{} xid {:#x}", nfs4::operation_name(span.operation), span.xid);
  if (span.slot != Span::kNoSlot) text += fmt::format(" slot {}", span.slot);
  if (span.origin != kNoOrigin) text += fmt::format(" for request {}", span.origin);
  // EXCHANGE_ID and its like have no slot.
  const TimePoint had_slot = span.slot_taken == TimePoint{0} ? span.begun : span.slot_taken;
  text += fmt::format(": slot {}, queue {}, server {}, all {}; {} bytes sent, {} received; {}",
                      between(span.begun, span.slot_taken), between(had_slot, span.call.sent),
                      between(span.call.sent, span.call.replied), between(span.begun, span.ended),
                      span.bytes_sent, span.bytes_received, outcome_of(span.layer, span.code));
  if (span.sends > 1) text += fmt::format("; sent {} times", span.sends);
  if (span.delays > 0) text += fmt::format("; put off {} times", span.delays);
  return text;
}

}  // namespace nfsrdma::client
