#include "transport/capture/roce_flow.h"

#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <utility>
#include <vector>

#include "transport/base/port.h"
#include "transport/capture/tcp_segment.h"

namespace nfsrdma::capture {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::uint16_t kRocePort = 4791;
constexpr std::size_t kMtu = 4096;
constexpr std::uint32_t kMtuCode = 5;
constexpr std::uint32_t kSequenceMask = 0xffffff;
constexpr std::size_t kUnit = 4;
constexpr std::array<std::byte, kUnit> kZeros{};  // a pad, and the ICRC

/// Base transport header: one word of these, then the queue pair, then the sequence number.
constexpr std::uint32_t kMigrated = 0x400000;
constexpr std::uint32_t kPartition = 0xffff;
constexpr unsigned kOpcodeShift = 24;
constexpr unsigned kPadShift = 20;

// Opcodes of reliable connections; of datagrams kDatagram.
constexpr std::uint8_t kSendFirst = 0x00;
constexpr std::uint8_t kSendOnly = 0x04;
constexpr std::uint8_t kWriteFirst = 0x06;
constexpr std::uint8_t kWriteOnly = 0x0a;
constexpr std::uint8_t kReadRequest = 0x0c;
constexpr std::uint8_t kReadResponseFirst = 0x0d;
constexpr std::uint8_t kReadResponseOnly = 0x10;
constexpr std::uint8_t kSendLastInvalidate = 0x16;
constexpr std::uint8_t kSendOnlyInvalidate = 0x17;
constexpr std::uint8_t kDatagram = 0x64;

// The connection manager's datagrams: places behind their header.
constexpr std::uint32_t kManagementPair = 1;
constexpr std::uint32_t kManagementKey = 0x80010000;
constexpr std::uint32_t kManagementHead = 0x01070203;  // base 1, class 7 version 2, method Send
constexpr std::uint16_t kConnectRequest = 0x0010;
constexpr std::uint16_t kConnectReply = 0x0013;
constexpr std::size_t kMessage = 232;
constexpr std::size_t kServiceAt = 8;
constexpr std::size_t kRequestPairAt = 32;
constexpr std::size_t kRequestSequenceAt = 44;
constexpr std::size_t kRequestPathAt = 48;
constexpr std::size_t kRequestPrivateDataAt = 140;
constexpr std::size_t kRequestPrivateData = 92;
constexpr std::size_t kReplyPairAt = 12;
constexpr std::size_t kReplySequenceAt = 20;
constexpr std::size_t kReplyPrivateDataAt = 36;
constexpr std::size_t kReplyPrivateData = 196;
/// What librdmacm puts before a request's private data: ports and addresses (annex A11).
constexpr std::size_t kAddressHeader = 36;
constexpr std::size_t kAddress = 16;
constexpr std::uint32_t kTcpPortSpace = 0x01060000;

void append_big(Bytes& to, std::uint32_t word) {
  for (int shift = 24; shift >= 0; shift -= 8) to.push_back(static_cast<std::byte>(word >> shift));
}

void put_big(Bytes& to, std::size_t at, std::uint32_t word) {
  Bytes bytes;
  append_big(bytes, word);
  std::copy(bytes.begin(), bytes.end(), to.begin() + static_cast<std::ptrdiff_t>(at));
}

void put_bytes(Bytes& to, std::size_t at, std::span<const std::byte> bytes, std::size_t most) {
  const auto part = bytes.first(std::min(bytes.size(), most));
  std::copy(part.begin(), part.end(), to.begin() + static_cast<std::ptrdiff_t>(at));
}

iovec as_iovec(std::span<const std::byte> bytes) {
  return {const_cast<std::byte*>(bytes.data()), bytes.size()};
}

std::size_t size_of(RoceFlow::Pieces pieces) {
  std::size_t size = 0;
  for (const auto& piece : pieces) size += piece.size();
  return size;
}

/// Cuts pieces one after the other.
class Cutter {
 public:
  explicit Cutter(RoceFlow::Pieces pieces) : pieces_(pieces) {}
  std::vector<iovec> take(std::size_t bytes) {
    std::vector<iovec> taken;
    while (bytes != 0 && piece_ < pieces_.size()) {
      const auto part =
          pieces_[piece_].subspan(done_).first(std::min(bytes, pieces_[piece_].size() - done_));
      if (!part.empty()) taken.push_back(as_iovec(part));
      bytes -= part.size();
      done_ += part.size();
      if (done_ < pieces_[piece_].size()) break;
      ++piece_;
      done_ = 0;
    }
    return taken;
  }

 private:
  RoceFlow::Pieces pieces_;
  std::size_t piece_ = 0;
  std::size_t done_ = 0;
};

/// Calls each(first, last, piece) for pieces of the MTU; once for no bytes.
template <class Each>
void in_packets(RoceFlow::Pieces pieces, Each each) {
  Cutter cutter(pieces);
  const std::size_t size = size_of(pieces);
  std::size_t done = 0;
  do {
    const std::size_t step = std::min(kMtu, size - done);
    const bool first = done == 0;
    done += step;
    each(first, done == size, cutter.take(step), step);
  } while (done < size);
}

/// Of the four forms of an operation, numbered first, middle, last; only is apart.
std::uint8_t form(std::uint8_t first_opcode, std::uint8_t only_opcode, bool first, bool last) {
  if (first && last) return only_opcode;
  if (first) return first_opcode;
  return static_cast<std::uint8_t>(first_opcode + (last ? 2 : 1));
}

Bytes remote_place(const RoceFlow::Place& place, std::size_t length) {
  Bytes header;
  append_big(header, static_cast<std::uint32_t>(place.address >> 32));
  append_big(header, static_cast<std::uint32_t>(place.address));
  append_big(header, place.key);
  append_big(header, static_cast<std::uint32_t>(length));
  return header;
}

/// Of connections of this process; the peer's is one above.
std::uint32_t next_pair() {
  static std::atomic<std::uint32_t> next{0x100};
  return next.fetch_add(2) & kSequenceMask;
}

sockaddr_storage stored(const sockaddr& address) {
  sockaddr_storage storage{};
  std::memcpy(&storage, &address,
              address.sa_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in));
  return storage;
}

const sockaddr& as_sockaddr(const sockaddr_storage& address) {
  return reinterpret_cast<const sockaddr&>(address);
}

/// IPv4 addresses stand at the end of their sixteen bytes.
Bytes address_header(const End& from, const End& to) {
  Bytes header;
  append_big(header, (from.v6 ? 0x60u : 0x40u) << 16 | from.port);
  for (const End* end : {&from, &to}) {
    Bytes address(kAddress);
    const std::size_t size = end->v6 ? kAddress : kUnit;
    put_bytes(address, kAddress - size, end->address, size);
    header.insert(header.end(), address.begin(), address.end());
  }
  return header;
}

}  // namespace

struct RoceFlow::Packet {
  std::uint8_t opcode = 0;
  std::uint32_t sequence = 0;
  Bytes extension;
  std::vector<iovec> payload;
  std::size_t length = 0;  ///< of the payload
};

std::unique_ptr<RoceFlow> RoceFlow::open(Sink& sink, const sockaddr& local, const sockaddr& peer,
                                         bool initiator) {
  if (!sink.on()) return nullptr;
  sockaddr_storage from = stored(local);
  sockaddr_storage to = stored(peer);
  for (auto* address : {&from, &to}) set_port(*address, kRocePort);
  auto flow = sink.open_flow(as_sockaddr(from), as_sockaddr(to), initiator, Carried::datagrams);
  if (!flow) return nullptr;
  return std::unique_ptr<RoceFlow>(new RoceFlow(std::move(flow), local, peer, initiator));
}

RoceFlow::RoceFlow(std::unique_ptr<Flow> flow, const sockaddr& local, const sockaddr& peer,
                   bool initiator)
    : flow_(std::move(flow)), ends_{stored(local), stored(peer)}, initiator_(initiator) {
  pairs_[0] = next_pair();
  pairs_[1] = pairs_[0] + 1;
}

void RoceFlow::put(From from, std::span<const iovec> pieces) {
  std::size_t bytes = 0;
  for (const iovec& piece : pieces) bytes += piece.iov_len;
  from == From::local ? flow_->sent(pieces, bytes) : flow_->received(pieces, bytes);
}

void RoceFlow::packet(From from, const Packet& packet) {
  const std::size_t pad = (kUnit - packet.length % kUnit) % kUnit;
  Bytes header;
  append_big(header, std::uint32_t{packet.opcode} << kOpcodeShift | kMigrated |
                         static_cast<std::uint32_t>(pad) << kPadShift | kPartition);
  append_big(header, pair_of(from == From::local ? From::peer : From::local));
  append_big(header, packet.sequence & kSequenceMask);
  header.insert(header.end(), packet.extension.begin(), packet.extension.end());
  std::vector<iovec> pieces{as_iovec(header)};
  pieces.insert(pieces.end(), packet.payload.begin(), packet.payload.end());
  pieces.push_back(as_iovec(std::span(kZeros).first(pad)));
  pieces.push_back(as_iovec(kZeros));
  put(from, pieces);
}

void RoceFlow::connected(std::span<const std::byte> request, std::span<const std::byte> reply) {
  const From client = initiator_ ? From::local : From::peer;
  const From server = initiator_ ? From::peer : From::local;
  const End from = make_end(as_sockaddr(ends_[static_cast<std::size_t>(client)]));
  const End to = make_end(as_sockaddr(ends_[static_cast<std::size_t>(server)]));
  const std::uint32_t client_id = pair_of(client);
  const std::uint32_t server_id = pair_of(server);

  Bytes asked(kMessage);
  put_big(asked, 0, client_id);
  put_big(asked, kServiceAt + kUnit, kTcpPortSpace | to.port);
  put_big(asked, kRequestPairAt, client_id << 8);
  put_big(asked, kRequestSequenceAt, 0);
  put_big(asked, kRequestPathAt, kPartition << 16 | kMtuCode << 12);
  put_bytes(asked, kRequestPrivateDataAt, address_header(from, to), kAddressHeader);
  put_bytes(asked, kRequestPrivateDataAt + kAddressHeader, request,
            kRequestPrivateData - kAddressHeader);
  comment("made by nfsrdma: packets of an RDMA device are not seen by programs");
  management(client, kConnectRequest, asked);

  Bytes answer(kMessage);
  put_big(answer, 0, server_id);
  put_big(answer, kUnit, client_id);
  put_big(answer, kReplyPairAt, server_id << 8);
  put_big(answer, kReplySequenceAt, 0);
  put_bytes(answer, kReplyPrivateDataAt, reply, kReplyPrivateData);
  management(server, kConnectReply, answer);
}

void RoceFlow::management(From from, std::uint16_t attribute, std::span<const std::byte> message) {
  Bytes bytes;
  append_big(bytes, std::uint32_t{kDatagram} << kOpcodeShift | kMigrated | kPartition);
  append_big(bytes, kManagementPair);
  append_big(bytes, 0);
  append_big(bytes, kManagementKey);
  append_big(bytes, kManagementPair);
  append_big(bytes, kManagementHead);
  append_big(bytes, 0);
  append_big(bytes, 0);  // transaction: the initiator's communication id
  append_big(bytes, pair_of(initiator_ ? From::local : From::peer));
  append_big(bytes, std::uint32_t{attribute} << 16);
  append_big(bytes, 0);
  bytes.insert(bytes.end(), message.begin(), message.end());
  append_big(bytes, 0);
  const iovec piece = as_iovec(bytes);
  put(from, {&piece, 1});
}

void RoceFlow::send(From from, Pieces message, std::optional<std::uint32_t> invalidate) {
  in_packets(message, [&](bool first, bool last, std::vector<iovec> payload, std::size_t length) {
    Packet each{form(kSendFirst, kSendOnly, first, last),
                sequence_of(from)++,
                {},
                std::move(payload),
                length};
    if (last && invalidate) {
      each.opcode = first ? kSendOnlyInvalidate : kSendLastInvalidate;
      append_big(each.extension, *invalidate);
    }
    packet(from, each);
  });
}

void RoceFlow::write(From from, Place to, Pieces data) {
  const std::size_t size = size_of(data);
  in_packets(data, [&](bool first, bool last, std::vector<iovec> payload, std::size_t length) {
    Packet each{form(kWriteFirst, kWriteOnly, first, last),
                sequence_of(from)++,
                {},
                std::move(payload),
                length};
    if (first) each.extension = remote_place(to, size);
    packet(from, each);
  });
}

std::uint32_t RoceFlow::read_request(From from, Place place, std::uint32_t length) {
  const std::uint32_t sequence = sequence_of(from);
  packet(from, {kReadRequest, sequence, remote_place(place, length), {}, 0});
  // Its responses have as many numbers.
  const std::size_t responses = (length + kMtu - 1) / kMtu;
  sequence_of(from) += static_cast<std::uint32_t>(std::max<std::size_t>(responses, 1));
  return sequence;
}

void RoceFlow::read_response(From responder, std::uint32_t sequence,
                             std::span<const std::byte> data) {
  const std::span<const std::byte> pieces[] = {data};
  in_packets(pieces, [&](bool first, bool last, std::vector<iovec> payload, std::size_t length) {
    Packet each{form(kReadResponseFirst, kReadResponseOnly, first, last),
                sequence++,
                {},
                std::move(payload),
                length};
    if (first || last) append_big(each.extension, 0);
    packet(responder, each);
  });
}

}  // namespace nfsrdma::capture
