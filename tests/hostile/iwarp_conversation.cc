#include "tests/hostile/iwarp_conversation.h"

#include <algorithm>

#include "transport/rdma/header.h"
#include "transport/xdr/decoder.h"

namespace nfsrdma::hostile {
namespace {

constexpr std::size_t kStartupHeader = 20;
constexpr std::uint32_t kPrivateDataMask = 0xffff;
/// In a Read Request: the STag of the source.
constexpr std::size_t kSourceStagAt = 16;
constexpr std::size_t kMostOffers = 200;

bool is_send(std::uint8_t opcode) {
  return opcode >= wire::kSend && opcode <= wire::kSendSolicitedInvalidate;
}

wire::Segment again(wire::Parsed&& parsed) {
  wire::Segment segment;
  segment.tagged = parsed.tagged;
  segment.last = parsed.last;
  segment.ddp_version = parsed.ddp_version;
  segment.rdmap_version = parsed.rdmap_version;
  segment.opcode = parsed.opcode;
  segment.stag = parsed.stag;
  segment.to = parsed.to;
  segment.invalidate = parsed.invalidate;
  segment.qn = parsed.qn;
  segment.msn = Strike::kNext;
  segment.mo = parsed.mo;
  segment.payload = std::move(parsed.payload);
  return segment;
}

bool has(std::span<const fabric::Segment> segments, std::uint32_t stag) {
  return std::ranges::find(segments, stag, &fabric::Segment::handle) != segments.end();
}

}  // namespace

bool IwarpConversation::pass_startup(Frame& stream, bool of_server) {
  if (stream.size() < kStartupHeader) return false;
  const std::size_t length =
      kStartupHeader +
      (wire::be32(std::span(stream).subspan(kStartupHeader - 4)) & kPrivateDataMask);
  if (stream.size() < length) return false;
  Frame frame(stream.begin(), stream.begin() + static_cast<std::ptrdiff_t>(length));
  stream.erase(stream.begin(), stream.begin() + static_cast<std::ptrdiff_t>(length));
  if (!of_server) {
    wire_.to_server(frame);
    return true;
  }
  const Offer none;
  Strike strike(*this, none);
  strike.startup = &frame;
  if (const WireAttack* attack = man_.wants(none, At::startup)) attack->strike(strike);
  if (strike.forward) emit(frame);
  return true;
}

void IwarpConversation::from_client(std::span<const std::byte> bytes) {
  client_stream_.insert(client_stream_.end(), bytes.begin(), bytes.end());
  if (!client_started_ && !(client_started_ = pass_startup(client_stream_, false))) return;
  for (wire::Parsed& parsed : wire::take_fpdus(client_stream_)) {
    if (parsed.opcode == wire::kReadResponse && parsed.stag == kForbiddenSink) {
      man_.leaked_ += parsed.payload.size();
      continue;
    }
    if (parsed.opcode == wire::kReadResponse && parsed.stag == kAllowedSink) continue;
    if (is_send(parsed.opcode) && parsed.mo == 0) on_call(parsed);
    const std::uint32_t msn = parsed.msn;
    wire::Segment segment = again(std::move(parsed));
    segment.msn = msn;
    wire_.to_server(wire::fpdu(segment));
  }
}

void IwarpConversation::on_call(const wire::Parsed& message) {
  xdr::Decoder in(message.payload);
  rdma::Header header;
  if (rdma::decode_header(in, header) != rdma::HeaderFault::none) return;
  if (header.proc != rdma::RDMA_MSG && header.proc != rdma::RDMA_NOMSG) return;
  Offer offer;
  offer.xid = header.rdma_xid;
  for (const rdma::WriteChunk& chunk : header.chunks.rdma_writes()) {
    offer.to_write.insert(offer.to_write.end(), chunk.segments().begin(), chunk.segments().end());
  }
  if (header.chunks.has_reply) {
    const auto segments = header.chunks.rdma_reply.segments();
    offer.to_write.insert(offer.to_write.end(), segments.begin(), segments.end());
  }
  for (const rdma::ReadSegment& read : header.chunks.rdma_reads()) {
    offer.to_read.push_back(read.target);
  }
  man_.note(offer);
  man_.offers_.emplace_back(this, std::move(offer));
  if (man_.offers_.size() > kMostOffers) man_.offers_.pop_front();
  const Offer& kept = man_.offers_.back().second;
  Strike strike(*this, kept);
  if (const WireAttack* attack = man_.wants(kept, At::call)) attack->strike(strike);
}

void IwarpConversation::from_server(std::span<const std::byte> bytes) {
  server_stream_.insert(server_stream_.end(), bytes.begin(), bytes.end());
  if (!server_started_ && !(server_started_ = pass_startup(server_stream_, true))) return;
  for (wire::Parsed& parsed : wire::take_fpdus(server_stream_))
    on_segment(again(std::move(parsed)));
}

Offer* IwarpConversation::offer_with(std::uint32_t stag) {
  for (auto& [connection, offer] : man_.offers_) {
    if (connection != this || offer.answered) continue;
    if (has(offer.to_write, stag) || has(offer.to_read, stag)) return &offer;
  }
  return nullptr;
}

Offer* IwarpConversation::offer_of(std::uint32_t xid) {
  for (auto& [connection, offer] : man_.offers_) {
    if (connection == this && offer.xid == xid && !offer.answered) return &offer;
  }
  return nullptr;
}

void IwarpConversation::on_segment(wire::Segment segment) {
  const bool is_read = segment.opcode == wire::kReadRequest;
  const bool is_reply = is_send(segment.opcode) && segment.mo == 0 && segment.payload.size() >= 4;
  Offer* offer = nullptr;
  At at = At::reply;
  if (segment.opcode == wire::kWrite) {
    offer = offer_with(segment.stag);
    at = At::write;
  } else if (is_read && segment.payload.size() > kSourceStagAt + 4) {
    offer = offer_with(wire::be32(std::span(segment.payload).subspan(kSourceStagAt)));
    at = At::read;
  } else if (is_reply) {
    offer = offer_of(wire::be32(segment.payload));
  }
  if (!offer) return emit(std::move(segment));
  Strike strike(*this, *offer);
  strike.segment = &segment;
  if (const WireAttack* attack = man_.wants(*offer, at)) {
    if (at == At::write) {
      if (writing_xid_ != offer->xid) writes_ = 0;
      writing_xid_ = offer->xid;
      strike.index = writes_++;
    }
    attack->strike(strike);
  }
  if (strike.forward) emit(segment);
  if (at != At::reply) return;
  offer->answered = true;
  strike.segment = nullptr;
  if (const WireAttack* attack = man_.wants(*offer, At::after)) attack->strike(strike);
}

void IwarpConversation::emit(wire::Segment segment) {
  if (!segment.tagged && segment.msn == Strike::kNext) {
    std::uint32_t& next = next_[std::min<std::size_t>(segment.qn, kQueues - 1)];
    segment.msn = next;
    if (segment.last) ++next;
  }
  emit(wire::fpdu(segment));
}

}  // namespace nfsrdma::hostile
