#include "tests/lab/capture/roce_table.h"

#include <algorithm>

#include "tests/lab/capture/byte_view.h"

namespace nfsrdma::lab {
namespace {

// Opcodes of reliable connections (table 38 of the specification).
enum Opcode : std::uint8_t {
  kSendFirst = 0x00,
  kSendMiddle = 0x01,
  kSendLast = 0x02,
  kSendLastImmediate = 0x03,
  kSendOnly = 0x04,
  kSendOnlyImmediate = 0x05,
  kWriteFirst = 0x06,
  kWriteMiddle = 0x07,
  kWriteLast = 0x08,
  kWriteLastImmediate = 0x09,
  kWriteOnly = 0x0a,
  kWriteOnlyImmediate = 0x0b,
  kReadRequest = 0x0c,
  kReadResponseFirst = 0x0d,
  kReadResponseMiddle = 0x0e,
  kReadResponseLast = 0x0f,
  kReadResponseOnly = 0x10,
  kAcknowledge = 0x11,
  kSendLastInvalidate = 0x16,
  kSendOnlyInvalidate = 0x17,
  kDatagram = 0x64,
};

constexpr std::size_t kBth = 12;
constexpr std::size_t kReth = 16;
constexpr std::size_t kWord = 4;  // AETH, ImmDt, IETH, ICRC
constexpr std::size_t kDeth = 8;
constexpr std::uint32_t kManagementPair = 1;
constexpr std::uint32_t kPsnMask = 0xffffff;
constexpr std::uint32_t kPsnHalf = 0x800000;
constexpr std::uint32_t kLeastMtu = 256;
constexpr std::uint8_t kSyndromeKind = 0x60;
constexpr std::uint8_t kNegative = 0x60;
constexpr std::uint8_t kSyndromeCode = 0x1f;

// The connection manager's datagrams (chapter 12 of the specification): places behind their header.
constexpr std::uint8_t kCommunicationClass = 0x07;
constexpr std::size_t kAttributeAt = 16;
constexpr std::size_t kMadHeader = 24;
constexpr std::uint16_t kConnectRequest = 0x0010;
constexpr std::uint16_t kConnectReply = 0x0013;
constexpr std::size_t kRequestPairAt = 32;
constexpr std::size_t kRequestPrivateDataAt = 140;
constexpr std::size_t kRequestPrivateData = 92;
constexpr std::size_t kReplyIdAt = 4;
constexpr std::size_t kReplyPairAt = 12;
constexpr std::size_t kReplyPrivateDataAt = 36;
constexpr std::size_t kReplyPrivateData = 196;

bool is_response(std::uint8_t opcode) {
  return opcode >= kReadResponseFirst && opcode <= kAcknowledge;
}
bool is_write(std::uint8_t opcode) {
  return opcode >= kWriteFirst && opcode <= kWriteOnlyImmediate;
}
bool is_send(std::uint8_t opcode) {
  return opcode <= kSendOnlyImmediate || opcode == kSendLastInvalidate ||
         opcode == kSendOnlyInvalidate;
}
bool starts_message(std::uint8_t opcode) {
  return opcode == kSendFirst || opcode == kSendOnly || opcode == kSendOnlyImmediate ||
         opcode == kSendOnlyInvalidate || opcode == kWriteFirst || opcode == kWriteOnly ||
         opcode == kWriteOnlyImmediate || opcode == kReadRequest;
}
bool ends_send(std::uint8_t opcode) { return opcode != kSendFirst && opcode != kSendMiddle; }

const char* refusal(std::uint8_t syndrome) {
  switch (syndrome & kSyndromeCode) {
    case 1: return "invalid request";
    case 2: return "remote access error";
    case 3: return "remote operational error";
    default: return nullptr;  // a gap in the sequence: it is sent again
  }
}

/// The headers between BTH and payload that this opcode has.
std::size_t parse_extensions(const ByteView& view, RocePacket& packet) {
  const std::uint8_t op = packet.opcode;
  if (op == kWriteFirst || op == kWriteOnly || op == kWriteOnlyImmediate || op == kReadRequest) {
    packet.address = view.u64(kBth);
    packet.key = view.u32(kBth + 8);
    packet.length = view.u32(kBth + 12);
    return kReth + (op == kWriteOnlyImmediate ? kWord : 0);
  }
  if (op == kSendLastInvalidate || op == kSendOnlyInvalidate) {
    packet.invalidated = view.u32(kBth);
    return kWord;
  }
  if (op == kSendLastImmediate || op == kSendOnlyImmediate || op == kWriteLastImmediate) {
    return kWord;
  }
  if (is_response(op) && op != kReadResponseMiddle) {
    packet.syndrome = view.u8(kBth);
    return kWord;
  }
  return 0;
}

}  // namespace

std::optional<RocePacket> parse_roce(std::span<const std::byte> datagram) {
  const ByteView view(datagram);
  if (!view.has(kBth + kWord)) return {};
  RocePacket packet;
  packet.opcode = view.u8(0);
  packet.queue_pair = view.u24(5);
  packet.psn = view.u24(9);
  const std::size_t pad = view.u8(1) >> 4 & 0x3u;
  const std::size_t headers = kBth + parse_extensions(view, packet);
  if (!view.has(headers + pad + kWord)) return {};
  packet.payload = view.part(headers, datagram.size() - headers - pad - kWord);
  return packet;
}

void RoceDirection::add(const RocePacket& packet, RoceDirection& other, Moment at) {
  if (packet.opcode == kAcknowledge) return acknowledge(packet, at);
  if (is_response(packet.opcode)) return read_response(packet, other, at);
  if (!in_order(packet, at)) return;
  if (is_send(packet.opcode)) return send(packet, at);
  if (is_write(packet.opcode)) return write(packet, at);
  if (packet.opcode == kReadRequest) return read_request(packet, at);
}

/// False: it came before, or its beginning is missing.
bool RoceDirection::in_order(const RocePacket& packet, Moment at) {
  const std::uint32_t ahead = next_psn_ ? (packet.psn - *next_psn_) & kPsnMask : 0;
  if (ahead >= kPsnHalf) return false;
  if (ahead > may_skip_) {
    in_message_ = false;
    observer_.on_gap({at, side_});
  }
  next_psn_ = (packet.psn + 1) & kPsnMask;
  may_skip_ = 0;
  if (starts_message(packet.opcode)) {
    in_message_ = true;
    message_.clear();
  }
  return in_message_;
}

void RoceDirection::send(const RocePacket& packet, Moment at) {
  if (message_.size() + packet.payload.size() > kMostMessage) {
    in_message_ = false;
    return;
  }
  message_.insert(message_.end(), packet.payload.begin(), packet.payload.end());
  if (!ends_send(packet.opcode)) return;
  std::optional<std::uint32_t> invalidated;
  if (packet.opcode == kSendLastInvalidate || packet.opcode == kSendOnlyInvalidate) {
    invalidated = packet.invalidated;
  }
  in_message_ = false;
  observer_.on_send({at, side_}, message_, invalidated);
}

void RoceDirection::write(const RocePacket& packet, Moment at) {
  if (starts_message(packet.opcode)) write_at_ = {packet.key, packet.address};
  observer_.on_write({at, side_}, write_at_, packet.payload);
  write_at_.offset += packet.payload.size();
}

void RoceDirection::read_request(const RocePacket& packet, Moment at) {
  may_skip_ = packet.length / kLeastMtu + 1;
  if (reads_.size() >= kMostReads) reads_.pop_front();
  Read& read = reads_.emplace_back();
  read.psn = packet.psn;
  read.request.sink_to = ++reads_made_ << 32;
  read.request.size = packet.length;
  read.request.source_stag = packet.key;
  read.request.source_to = packet.address;
  observer_.on_read_request({at, side_}, read.request);
}

void RoceDirection::read_response(const RocePacket& packet, RoceDirection& other, Moment at) {
  auto& reads = other.reads_;
  const bool first = packet.opcode == kReadResponseFirst || packet.opcode == kReadResponseOnly;
  while (first && !reads.empty() && reads.front().psn != packet.psn &&
         ((packet.psn - reads.front().psn) & kPsnMask) < kPsnHalf) {
    reads.pop_front();
  }
  if (reads.empty() || (first && reads.front().psn != packet.psn)) return;  // came before
  Read& read = reads.front();
  if (first) read.received = 0;
  const std::uint64_t to = read.request.sink_to + read.received;
  read.received += static_cast<std::uint32_t>(packet.payload.size());
  observer_.on_read_response({at, side_}, {0, to}, packet.payload);
  if (packet.opcode == kReadResponseLast || packet.opcode == kReadResponseOnly) reads.pop_front();
}

void RoceDirection::acknowledge(const RocePacket& packet, Moment at) {
  if ((packet.syndrome & kSyndromeKind) != kNegative) return;
  if (const char* why = refusal(packet.syndrome)) observer_.on_terminate({at, side_}, why);
}

void RoceTable::add(const IpPacket& packet) {
  const auto roce = parse_roce(packet.payload);
  if (!roce) return;
  if (roce->opcode == kDatagram) {
    if (roce->queue_pair == kManagementPair) management(packet, roce->payload);
    return;
  }
  Flow* flow = flow_of(packet, *roce);
  if (flow == nullptr) return;
  Connection& connection = *flow->connection;
  auto& sender = connection.directions[index_of(flow->side)];
  if (packet.cut) return connection.observer->on_gap({packet.at, flow->side});
  sender->add(*roce, *connection.directions[index_of(other(flow->side))], packet.at);
}

void RoceTable::management(const IpPacket& packet, std::span<const std::byte> datagram) {
  const ByteView mad(ByteView(datagram).part(kDeth));
  if (mad.u8(1) != kCommunicationClass) return;
  const auto message = mad.part(kMadHeader);
  const ByteView view(message);
  if (mad.u16(kAttributeAt) == kConnectReply) return connection_reply(packet, message);
  if (mad.u16(kAttributeAt) != kConnectRequest || requests_.size() >= kMost) return;
  const auto data = view.part(kRequestPrivateDataAt, kRequestPrivateData);
  requests_[{packet.from.address, packet.to.address, view.u32(0)}] = {
      view.u24(kRequestPairAt), {data.begin(), data.end()}, packet.at};
}

void RoceTable::connection_reply(const IpPacket& packet, std::span<const std::byte> message) {
  const ByteView view(message);
  const auto found = requests_.find({packet.to.address, packet.from.address, view.u32(kReplyIdAt)});
  if (found == requests_.end()) return;  // sent again
  const auto request = requests_.extract(found).mapped();
  Connection* connection = open(packet.to, packet.from, request.at);
  if (connection == nullptr) return;
  connection->paired = true;
  flows_[{packet.to.address, packet.from.address, view.u24(kReplyPairAt)}] = {connection,
                                                                              Side::client};
  flows_[{packet.from.address, packet.to.address, request.queue_pair}] = {connection, Side::server};
  connection->observer->on_private_data({request.at, Side::client}, request.private_data);
  connection->observer->on_private_data({packet.at, Side::server},
                                        view.part(kReplyPrivateDataAt, kReplyPrivateData));
}

/// Where the connection was not seen to begin, the side that sends first is the client, and the
/// first queue pair in the other direction is its peer.
RoceTable::Flow* RoceTable::flow_of(const IpPacket& packet, const RocePacket& roce) {
  const FlowKey key{packet.from.address, packet.to.address, roce.queue_pair};
  const auto found = flows_.find(key);
  if (found != flows_.end()) return &found->second;
  for (const auto& connection : all_) {
    if (connection->paired || connection->info.client.address != packet.to.address ||
        connection->info.server.address != packet.from.address) {
      continue;
    }
    connection->paired = true;
    return &(flows_[key] = {connection.get(), Side::server});
  }
  if (!is_send(roce.opcode)) return nullptr;
  Connection* connection = open(packet.from, packet.to, packet.at);
  if (connection == nullptr) return nullptr;
  connection->observer->on_gap({packet.at, Side::client});
  connection->observer->on_gap({packet.at, Side::server});
  return &(flows_[key] = {connection, Side::client});
}

RoceTable::Connection* RoceTable::open(const Endpoint& client, const Endpoint& server, Moment at) {
  if (all_.size() >= kMost) return nullptr;
  auto& connection = all_.emplace_back(std::make_unique<Connection>());
  connection->info = {++connections_, LowerLayer::roce, client, server, at};
  connection->observer = factory_.on_connection(connection->info);
  connection->directions[0].emplace(Side::client, *connection->observer);
  connection->directions[1].emplace(Side::server, *connection->observer);
  return connection.get();
}

void RoceTable::finish(Moment at) {
  for (const auto& connection : all_) connection->observer->on_closed(at);
}

}  // namespace nfsrdma::lab
