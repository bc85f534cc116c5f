#include "tests/lab/capture/roce_maker.h"

#include <algorithm>

#include "transport/rdma/private_data.h"

namespace nfsrdma::lab::test {
namespace {

constexpr std::uint32_t kPairs[2] = {0x22, 0x11};  // that a side sends to
constexpr std::uint32_t kPsnMask = 0xffffff;
constexpr std::uint32_t kManagementPair = 1;
constexpr std::uint8_t kDatagram = 0x64;
constexpr std::size_t kMadBytes = 256;
constexpr std::size_t kMadHeader = 24;

void put(Bytes& to, std::size_t at, std::initializer_list<std::uint32_t> words) {
  Bytes bytes;
  append_words(bytes, words);
  std::copy(bytes.begin(), bytes.end(), to.begin() + static_cast<std::ptrdiff_t>(at));
}

/// Calls each(first, last, piece) for pieces of the MTU; once for none.
template <class Each>
void in_pieces(std::span<const std::byte> bytes, Each each) {
  bool first = true;
  do {
    const auto piece = bytes.first(std::min(bytes.size(), RoceMaker::kMtu));
    bytes = bytes.subspan(piece.size());
    each(first, bytes.empty(), piece);
    first = false;
  } while (!bytes.empty());
}

/// Of the four forms of an operation, numbered in this order.
std::uint8_t form(std::uint8_t first_opcode, std::uint8_t only_opcode, bool first, bool last) {
  if (first && last) return only_opcode;
  if (first) return first_opcode;
  return static_cast<std::uint8_t>(first_opcode + (last ? 2 : 1));
}

}  // namespace

RoceMaker::RoceMaker(CaptureMaker& file, bool invalidation, bool manager) : file_(file) {
  if (!manager) return;
  const auto data = rdma::encode_private_data(
      {.remote_invalidation = invalidation, .send_size = 4096, .receive_size = 4096});
  Bytes request(232);
  put(request, 0, {0xabc});
  put(request, 32, {kPairs[1] << 8});
  std::copy(data.begin(), data.end(), request.begin() + 140 + 36);  // behind the IP addresses
  manage(Side::client, 0x0010, request);
  Bytes reply(232);
  put(reply, 0, {0xdef, 0xabc});
  put(reply, 12, {kPairs[0] << 8});
  std::copy(data.begin(), data.end(), reply.begin() + 36);
  manage(Side::server, 0x0013, reply);
}

void RoceMaker::manage(Side from, std::uint16_t attribute, const Bytes& message) {
  Bytes mad(kMadBytes);
  put(mad, 0, {0x01070203});
  put(mad, 16, {std::uint32_t{attribute} << 16});
  std::copy(message.begin(), message.end(), mad.begin() + kMadHeader);
  Bytes bytes;
  append_words(bytes, {std::uint32_t{kDatagram} << 24 | 0xffff, kManagementPair, 0});
  append_words(bytes, {0x80010000, 1});
  append(bytes, mad);
  append_words(bytes, {0});
  datagram(from, bytes);
}

void RoceMaker::packet(Side from, std::uint8_t opcode, std::uint32_t number, const Bytes& extension,
                       std::span<const std::byte> payload) {
  const std::uint32_t pad = static_cast<std::uint32_t>((4 - payload.size() % 4) % 4);
  Bytes bytes;
  append_words(bytes, {std::uint32_t{opcode} << 24 | pad << 20 | 0xffff, kPairs[index_of(from)],
                       number & kPsnMask});
  append(bytes, extension);
  append(bytes, payload);
  bytes.resize(bytes.size() + pad);
  append_words(bytes, {0});
  datagram(from, bytes);
}

void RoceMaker::datagram(Side from, const Bytes& bytes) {
  const auto length = static_cast<std::uint32_t>(bytes.size() + 8);
  const std::uint32_t client = 0xc0000201;
  const std::uint32_t server = 0xc0000202;
  Bytes ip;
  append_words(ip,
               {0x45000000 | (length + 20), 0, 0x40110000, from == Side::client ? client : server,
                from == Side::client ? server : client, 0xc00012b7, length << 16});
  append(ip, bytes);
  file_.add(ip);
}

void RoceMaker::send(Side from, std::span<const std::byte> message,
                     std::optional<std::uint32_t> invalidated) {
  in_pieces(message, [&](bool first, bool last, auto piece) {
    Bytes extension;
    std::uint8_t opcode = form(0x00, 0x04, first, last);
    if (last && invalidated) {
      opcode = first ? 0x17 : 0x16;
      append_words(extension, {*invalidated});
    }
    packet(from, opcode, psn[index_of(from)]++, extension, piece);
  });
}

void RoceMaker::write(Side from, Place to, std::span<const std::byte> data) {
  in_pieces(data, [&](bool first, bool last, auto piece) {
    Bytes extension;
    if (first) {
      append_words(extension, {static_cast<std::uint32_t>(to.offset >> 32),
                               static_cast<std::uint32_t>(to.offset), to.handle,
                               static_cast<std::uint32_t>(data.size())});
    }
    packet(from, form(0x06, 0x0a, first, last), psn[index_of(from)]++, extension, piece);
  });
}

void RoceMaker::read(Side from, Place place, std::span<const std::byte> data) {
  Bytes extension;
  append_words(extension, {static_cast<std::uint32_t>(place.offset >> 32),
                           static_cast<std::uint32_t>(place.offset), place.handle,
                           static_cast<std::uint32_t>(data.size())});
  std::uint32_t& number = psn[index_of(from)];
  packet(from, 0x0c, number, extension, {});
  in_pieces(data, [&](bool first, bool last, auto piece) {
    Bytes acknowledgement;
    if (first || last) append_words(acknowledgement, {0});
    packet(other(from), form(0x0d, 0x10, first, last), number++, acknowledgement, piece);
  });
}

void RoceMaker::refuse(Side from, std::uint8_t code) {
  Bytes extension;
  append_words(extension, {std::uint32_t{0x60u | code} << 24});
  packet(from, 0x11, psn[index_of(other(from))] - 1, extension, {});
}

}  // namespace nfsrdma::lab::test
