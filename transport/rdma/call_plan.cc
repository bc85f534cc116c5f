#include "transport/rdma/call_plan.h"

#include <limits>

#include "transport/rdma/chunk_lists.h"
#include "transport/rdma/fault.h"
#include "transport/rdma/header.h"

namespace nfsrdma::rdma {
namespace {

struct Planner {
  const rpc::Call& call;
  const Thresholds& thresholds;
  const Options& options;
  CallPlan plan;
  std::size_t header = kMinHeader;  // of the Call, with the chunks decided on so far
  std::size_t payload = 0;          // bytes of the Payload stream that are still in the message

  std::span<const xdr::OmittedItem> items() const { return call.encoder.omitted(); }
  bool fits() const { return header + payload <= thresholds.call; }

  void plan_reply();
  void reduce_arguments();
  std::size_t largest_left() const;
  Result<void> plan_long_call();
};

void Planner::plan_reply() {
  const std::size_t sink = call.result_sink.size();
  std::size_t reply_header = kMinHeader;
  if (reply_header + call.max_reply + xdr::padded(sink) <= thresholds.reply) return;
  if (sink > 0) {
    plan.write_chunk = true;
    const std::size_t segments = segments_of(call.placement().size(), options);
    const std::size_t chunk = kWriteChunkHead + segments * kSegmentSize;
    reply_header += chunk;
    header += chunk;
  }
  if (reply_header + call.max_reply <= thresholds.reply) return;
  plan.reply_chunk = call.max_reply;
  header += kReplyChunkHead + segments_of(plan.reply_chunk, options) * kSegmentSize;
}

std::size_t Planner::largest_left() const {
  std::size_t best = items().size();
  for (std::size_t i = 0; i < items().size(); ++i) {
    if (plan.is_reduced(i) || items()[i].data.empty()) continue;
    if (best == items().size() || items()[i].data.size() > items()[best].data.size()) best = i;
  }
  return best;
}

void Planner::reduce_arguments() {
  for (std::uint32_t chunks = 0; chunks < options.max_read_chunks && !fits(); ++chunks) {
    const std::size_t item = largest_left();
    if (item == items().size()) return;
    plan.reduced |= 1U << item;
    payload -= xdr::padded(items()[item].data.size());
    header += segments_of(items()[item].data.size(), options) * kReadSegmentSize;
  }
}

Result<void> Planner::plan_long_call() {
  plan.long_call = true;
  const std::array<std::byte, xdr::kUnit> zeros{};
  std::size_t segments = 0;
  for (auto piece : payload_pieces(call.encoder, plan, zeros)) {
    segments += segments_of(piece.size(), options);
  }
  header += segments * kReadSegmentSize;
  if (segments <= kMaxSegments && header <= thresholds.call) return {};
  return fail(transport_error(Fault::call_too_large, "plan the call",
                              "its Position Zero chunk needs too many segments"));
}

bool chunks_too_long(const rpc::Call& call, const CallPlan& plan, const Options& options) {
  auto too_long = [&](std::size_t length) {
    return length > std::numeric_limits<std::uint32_t>::max() ||
           segments_of(length, options) > kMaxSegments;
  };
  const auto items = call.encoder.omitted();
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (plan.is_reduced(i) && too_long(items[i].data.size())) return true;
  }
  return (plan.write_chunk && too_long(call.placement().size())) || too_long(plan.reply_chunk);
}

}  // namespace

std::size_t segments_of(std::size_t length, const Options& options) {
  const std::size_t longest = options.max_segment_length;
  return longest == 0 ? 1 : (length + longest - 1) / longest;
}

Result<CallPlan> plan_call(const rpc::Call& call, const Thresholds& thresholds,
                           const Options& options) {
  Planner planner{call, thresholds, options, {}};
  planner.payload = call.encoder.size();
  for (const auto& item : call.encoder.omitted()) {
    planner.payload += xdr::padded(item.data.size());
  }
  planner.plan_reply();
  planner.reduce_arguments();
  if (!planner.fits()) TRY(planner.plan_long_call());
  if (chunks_too_long(call, planner.plan, options)) {
    return fail(transport_error(Fault::call_too_large, "plan the call",
                                "a chunk needs more segments than a server takes"));
  }
  return planner.plan;
}

std::uint32_t position_of(std::span<const xdr::OmittedItem> items, std::size_t index) {
  std::size_t position = items[index].offset;
  for (const auto& earlier : items.first(index)) position += xdr::padded(earlier.data.size());
  return static_cast<std::uint32_t>(position);
}

std::size_t PayloadPieces::length() const {
  std::size_t sum = 0;
  for (auto piece : *this) sum += piece.size();
  return sum;
}

PayloadPieces payload_pieces(const xdr::Encoder& call, const CallPlan& plan,
                             std::span<const std::byte> zeros) {
  PayloadPieces result;
  const auto encoded = call.encoded();
  std::size_t done = 0;
  for (std::size_t i = 0; i < call.omitted().size(); ++i) {
    const auto& item = call.omitted()[i];
    if (plan.is_reduced(i)) continue;
    result.add(encoded.subspan(done, item.offset - done));
    result.add(item.data);
    result.add(zeros.first(xdr::pad_of(item.data.size())));
    done = item.offset;
  }
  result.add(encoded.subspan(done));
  return result;
}

}  // namespace nfsrdma::rdma
