#include "transport/fabric/iwarp/transmitter.h"

#include <algorithm>
#include <array>
#include <cerrno>

namespace nfsrdma::fabric::iwarp {
namespace {

/// The 16-bit length field of MPA allows no more.
constexpr std::size_t kMaxUlpdu = 65530;
/// TCP segments of this size occur on a host's loopback only. There an FPDU need not fit into one
/// segment, and the size that a new connection reports is half of what it becomes.
constexpr std::size_t kLoopbackSegment = 32 * 1024 - 64;
/// Every FPDU must carry some payload however small TCP's segments are.
constexpr std::size_t kMinUlpdu = 128;
/// A batch of this size is written before more is framed, so that the peer can start with it.
constexpr std::size_t kBatchBytes = 256 * 1024;
constexpr int kBatchesPerTurn = 8;

}  // namespace

std::size_t largest_ulpdu(std::size_t tcp_segment) {
  if (tcp_segment >= kLoopbackSegment) return kMaxUlpdu;
  const std::size_t fpdu = tcp_segment - tcp_segment % kFpduAlignment;
  constexpr std::size_t overhead = kUlpduLengthField + kCrcField;
  return std::clamp(fpdu > overhead ? fpdu - overhead : 0, kMinUlpdu, kMaxUlpdu);
}

void Transmitter::configure(std::size_t ulpdu_limit, bool crc) {
  ulpdu_limit_ = ulpdu_limit;
  batch_.use_crc(crc);
}

bool Transmitter::has_work() {
  if (!batch_.empty()) return true;
  if (held_ || terminating_) return false;
  return message_.kind != Message::Kind::none || reads_.can_request() || sends_.next() != nullptr ||
         responses_.next() != nullptr;
}

FlushStatus Transmitter::flush(net::ByteStream& stream) {
  for (int round = 0; round < kBatchesPerTurn; ++round) {
    if (batch_.empty()) fill();
    if (batch_.empty()) return FlushStatus::idle;
    const ssize_t written = stream.write(batch_.pending());
    if (written == -EAGAIN) return FlushStatus::blocked;
    if (written < 0) {
      error_ = static_cast<int>(-written);
      return FlushStatus::failed;
    }
    batch_.advance(static_cast<std::size_t>(written));
    if (!batch_.empty()) return FlushStatus::blocked;
    sends_.mark_written();
    responses_.mark_written();
  }
  return has_work() ? FlushStatus::more : FlushStatus::idle;
}

void Transmitter::fill() {
  if (held_ || terminating_) return;
  while (batch_.has_room() && batch_.bytes() < kBatchBytes) {
    const bool between_messages = message_.kind == Message::Kind::none;
    if (between_messages && reads_.can_request()) {
      frame_read_request();
      continue;
    }
    if (between_messages && !choose_message()) return;
    frame_segment();
  }
}

bool Transmitter::choose_message() {
  const SendEntry* send = sends_.next();
  const InboundRead* response = responses_.next();
  if (send == nullptr && response == nullptr) return false;
  if (response != nullptr && (send == nullptr || response_next_)) {
    start_response(*response);
  } else {
    start_send(*send);
  }
  return true;
}

void Transmitter::start_send(const SendEntry& entry) {
  message_ = Message{};
  message_.kind = Message::Kind::send;
  message_.length = entry.length;
  DdpHeader& header = message_.header;
  header.rdmap_control = rdmap_control(entry.opcode);
  if (entry.opcode == Opcode::rdma_write) {
    header.tagged = true;
    header.stag = entry.stag;
    header.to = entry.to;
  } else {
    header.ulp_word = entry.stag;
    header.qn = kSendQueueNumber;
    header.msn = ++send_msn_;
  }
}

void Transmitter::start_response(const InboundRead& read) {
  message_ = Message{};
  message_.kind = Message::Kind::response;
  message_.length = read.source.size();
  message_.header.tagged = true;
  message_.header.rdmap_control = rdmap_control(Opcode::read_response);
  message_.header.stag = read.sink_stag;
  message_.header.to = read.sink_to;
}

void Transmitter::frame_read_request() {
  std::array<std::byte, kUntaggedHeader> header;
  std::array<std::byte, kReadRequestHeader> request;
  DdpHeader ddp;
  ddp.last = true;
  ddp.rdmap_control = rdmap_control(Opcode::read_request);
  ddp.qn = kReadRequestQueueNumber;
  ddp.msn = ++read_request_msn_;
  encode(ddp, header.data());
  encode(reads_.take_request(), request.data());
  batch_.begin(header.size() + request.size(), header);
  batch_.add_copied(request);
  batch_.end();
  counters_.fpdus_sent.add();
}

std::size_t Transmitter::segment_length(const SendEntry* entry) const {
  const std::uint64_t left = message_.length - message_.done;
  const auto room = static_cast<std::size_t>(
      std::min<std::uint64_t>(left, ulpdu_limit_ - message_.header.size()));
  if (entry == nullptr) return room;
  // A segment that would need more pieces than one FPDU may have ends early.
  std::size_t gathered = 0;
  const std::size_t end = std::min(entry->pieces, message_.piece + FpduBatch::kPiecesPerFpdu);
  for (std::size_t i = message_.piece; i < end && gathered < room; ++i) {
    gathered += sends_.piece(*entry, i).size();
    if (i == message_.piece) gathered -= message_.piece_offset;
  }
  return std::min(room, gathered);
}

void Transmitter::frame_segment() {
  const bool is_send = message_.kind == Message::Kind::send;
  const SendEntry* entry = is_send ? sends_.next() : nullptr;
  const std::size_t length = segment_length(entry);
  DdpHeader ddp = message_.header;
  ddp.last = message_.done + length == message_.length;
  if (ddp.tagged) {
    ddp.to += message_.done;
  } else {
    ddp.mo = static_cast<std::uint32_t>(message_.done);
  }
  std::array<std::byte, kMaxDdpHeader> header;
  encode(ddp, header.data());
  batch_.begin(ddp.size() + length, std::span(header).first(ddp.size()));
  if (is_send) {
    add_send_payload(*entry, length);
  } else {
    batch_.add_payload(responses_.next()->source.subspan(message_.done, length));
    counters_.read_bytes_served.add(length);
  }
  batch_.end();
  counters_.fpdus_sent.add();
  message_.done += length;
  if (ddp.last) finish_message();
}

void Transmitter::add_send_payload(const SendEntry& entry, std::size_t length) {
  sends_.note_framed(length);
  while (length != 0) {
    const auto piece = sends_.piece(entry, message_.piece).subspan(message_.piece_offset);
    const std::size_t step = std::min(length, piece.size());
    batch_.add_payload(piece.first(step));
    length -= step;
    message_.piece_offset += step;
    if (step == piece.size()) {
      ++message_.piece;
      message_.piece_offset = 0;
    }
  }
}

void Transmitter::finish_message() {
  const bool was_response = message_.kind == Message::Kind::response;
  if (was_response) {
    responses_.mark_framed();
  } else {
    sends_.mark_framed();
  }
  response_next_ = !was_response;
  message_ = Message{};
}

void Transmitter::terminate(const TerminatePayload& payload) {
  batch_.keep_only_started();
  message_ = Message{};
  terminating_ = true;
  DdpHeader ddp;
  ddp.last = true;
  ddp.rdmap_control = rdmap_control(Opcode::terminate);
  ddp.qn = kTerminateQueueNumber;
  ddp.msn = 1;
  std::array<std::byte, kUntaggedHeader> header;
  encode(ddp, header.data());
  batch_.begin(header.size() + payload.length, header);
  batch_.add_copied(std::span(payload.bytes).first(payload.length));
  batch_.end();
  counters_.fpdus_sent.add();
  counters_.terminates_sent.add();
}

void Transmitter::clear() {
  batch_.clear();
  message_ = Message{};
  terminating_ = true;
}

}  // namespace nfsrdma::fabric::iwarp
