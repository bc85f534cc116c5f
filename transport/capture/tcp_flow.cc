#include "transport/capture/tcp_flow.h"

#include <algorithm>
#include <utility>

namespace nfsrdma::capture {
namespace {

/// What fits an IP packet whatever its header is.
constexpr std::size_t kMaxPayload = 65000;
constexpr const char* kAdded = "of a connection from before this file: added for dissectors";
/// A gap in sequence numbers, for the data in earlier files of the ring.
constexpr std::uint32_t kGap = 1 << 20;

}  // namespace

TcpFlow::TcpFlow(PcapngFile& file, const sockaddr& local, const sockaddr& peer, bool initiator,
                 Carried carried)
    : file_(file),
      carried_(carried),
      first_(static_cast<std::uint32_t>(file.packets())),
      local_(local, carried),
      peer_(peer, carried),
      initiator_(initiator ? local_ : peer_),
      responder_(initiator ? peer_ : local_) {
  begun_ = local_.number = peer_.number = file_.present();
  local_.sequence = peer_.sequence = first_;
  handshake(begun_);
}

TcpFlow::~TcpFlow() {
  record(begun_, local_, peer_, kFin | kAck, {});
  record(begun_, peer_, local_, kFin | kAck, {});
  record(begun_, local_, peer_, kAck, {});
  file_.flush();
}

void TcpFlow::sent(std::span<const iovec> pieces, std::size_t bytes) {
  record_stream(local_, peer_, pieces, bytes);
}

void TcpFlow::received(std::span<const iovec> pieces, std::size_t bytes) {
  record_stream(peer_, local_, pieces, bytes);
}

void TcpFlow::handshake(Number number) {
  record(number, initiator_, responder_, kSyn, {});
  record(number, responder_, initiator_, kSyn | kAck, {});
  record(number, initiator_, responder_, kAck, {});
}

void TcpFlow::begin_in(Number number) {
  begun_ = number;
  if (carried_ != Carried::mpa) return;
  std::string comment = std::exchange(comment_, kAdded);
  for (Side* side : {&local_, &peer_}) side->old_sequence = std::exchange(side->sequence, first_);
  handshake(number);
  for (auto [from, to] : {std::pair(&initiator_, &responder_), {&responder_, &initiator_}}) {
    const auto startup = from->bounds.startup();
    if (!startup.empty()) record(number, *from, *to, kPush | kAck, {startup});
  }
  for (Side* side : {&local_, &peer_}) side->sequence += kGap;
  comment_ = std::move(comment);
}

/// Between messages: the next one goes to the file that is written.
void TcpFlow::move_on(Side& side) {
  const Number present = file_.present();
  if (side.number == present) return;
  if (begun_ != present) begin_in(present);
  side.number = present;
}

void TcpFlow::record_in_ring(Side& from, Side& to, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    if (from.bounds.between()) move_on(from);
    const auto part = bytes.first(from.bounds.take(bytes));
    bytes = bytes.subspan(part.size());
    record_bytes(from, to, {part});
  }
}

void TcpFlow::record_stream(Side& from, Side& to, std::span<const iovec> pieces,
                            std::size_t bytes) {
  Parts parts;
  for (const iovec& piece : pieces) {
    const std::span part(static_cast<const std::byte*>(piece.iov_base),
                         std::min(piece.iov_len, bytes));
    bytes -= part.size();
    if (!part.empty()) parts.push_back(part);
  }
  if (parts.empty()) return;
  if (!file_.ring()) return record_bytes(from, to, parts);
  if (carried_ == Carried::messages) {  // no look into them is needed
    move_on(from);
    return record_bytes(from, to, parts);
  }
  for (const auto part : parts) record_in_ring(from, to, part);
}

void TcpFlow::record_bytes(Side& from, Side& to, const Parts& parts) {
  Parts segment;
  std::size_t length = 0;
  for (auto rest : parts) {
    while (!rest.empty()) {
      const std::size_t step = std::min(rest.size(), kMaxPayload - length);
      segment.push_back(rest.first(step));
      length += step;
      rest = rest.subspan(step);
      if (length < kMaxPayload) continue;
      record(from.number, from, to, kPush | kAck, std::exchange(segment, {}));
      length = 0;
    }
  }
  if (length != 0) record(from.number, from, to, kPush | kAck, std::move(segment));
}

void TcpFlow::record(Number number, Side& from, Side& to, std::uint8_t flags, Parts payload) {
  std::uint32_t& next = sequence_of(from, number);
  const Headers headers =
      make_headers(from.end, to.end, {next, sequence_of(to, number), flags}, payload);
  for (const auto& part : payload) next += static_cast<std::uint32_t>(part.size());
  // SYN and FIN take a sequence number each.
  if ((flags & (kSyn | kFin)) != 0) ++next;
  payload.insert(payload.begin(), headers.bytes());
  file_.add_packet(number, payload, comment_);
  comment_.clear();
}

}  // namespace nfsrdma::capture
