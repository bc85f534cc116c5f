#include "tests/transport/fabric/iwarp/wire_frames.h"

#include <array>
#include <string_view>

namespace nfsrdma::fabric::testing::wire {
namespace {

std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) ? 0x82f63b78u : 0);
    table[i] = value;
  }
  return table;
}

void put(Bytes& out, std::uint64_t value, int bytes) {
  for (int shift = (bytes - 1) * 8; shift >= 0; shift -= 8) {
    out.push_back(static_cast<std::byte>(value >> shift));
  }
}

void append(Bytes& out, std::span<const std::byte> more) {
  out.insert(out.end(), more.begin(), more.end());
}

std::uint64_t get(std::span<const std::byte> at, int bytes) {
  std::uint64_t value = 0;
  for (int i = 0; i < bytes; ++i) value = value << 8 | std::to_integer<std::uint64_t>(at[i]);
  return value;
}

Parsed parse(std::span<const std::byte> frame, std::size_t ulpdu_length) {
  Parsed parsed;
  parsed.ulpdu_length = ulpdu_length;
  const auto body = frame.subspan(2, ulpdu_length);
  const auto control = std::to_integer<std::uint8_t>(body[0]);
  const auto rdmap = std::to_integer<std::uint8_t>(body[1]);
  parsed.tagged = (control & 0x80) != 0;
  parsed.last = (control & 0x40) != 0;
  parsed.ddp_version = control & 3;
  parsed.rdmap_version = rdmap >> 6;
  parsed.opcode = rdmap & 0xf;
  const std::size_t header = parsed.tagged ? 14 : 18;
  if (parsed.tagged) {
    parsed.stag = be32(body.subspan(2));
    parsed.to = be64(body.subspan(6));
  } else {
    parsed.invalidate = be32(body.subspan(2));
    parsed.qn = be32(body.subspan(6));
    parsed.msn = be32(body.subspan(10));
    parsed.mo = be32(body.subspan(14));
  }
  parsed.payload.assign(body.begin() + header, body.end());
  const std::size_t pad = frame.size() - 4 - 2 - ulpdu_length;
  parsed.pad_zero = true;
  for (std::byte byte : frame.subspan(2 + ulpdu_length, pad)) {
    parsed.pad_zero &= byte == std::byte{0};
  }
  std::uint32_t carried = 0;
  for (int i = 3; i >= 0; --i) {
    carried = carried << 8 | std::to_integer<std::uint32_t>(frame[frame.size() - 4 + i]);
  }
  parsed.crc_right = carried == crc32c(frame.first(frame.size() - 4));
  return parsed;
}

}  // namespace

std::uint32_t crc32c(std::span<const std::byte> bytes) {
  static const auto table = make_table();
  std::uint32_t state = ~0u;
  for (std::byte byte : bytes) {
    state = table[(state ^ std::to_integer<std::uint32_t>(byte)) & 0xff] ^ (state >> 8);
  }
  return ~state;
}

std::uint32_t be32(std::span<const std::byte> at) { return static_cast<std::uint32_t>(get(at, 4)); }
std::uint64_t be64(std::span<const std::byte> at) { return get(at, 8); }

Bytes ulpdu(const Segment& segment) {
  Bytes out;
  put(out, (segment.tagged ? 0x80 : 0) | (segment.last ? 0x40 : 0) | segment.ddp_version, 1);
  put(out, segment.rdmap_version << 6 | segment.opcode, 1);
  if (segment.tagged) {
    put(out, segment.stag, 4);
    put(out, segment.to, 8);
  } else {
    put(out, segment.invalidate, 4);
    put(out, segment.qn, 4);
    put(out, segment.msn, 4);
    put(out, segment.mo, 4);
  }
  append(out, segment.payload);
  return out;
}

Bytes fpdu(std::span<const std::byte> body, bool crc) {
  Bytes out;
  put(out, body.size(), 2);
  append(out, body);
  while (out.size() % 4 != 0) out.push_back(std::byte{0});
  const std::uint32_t value = crc ? crc32c(out) : 0;
  for (int shift = 0; shift < 32; shift += 8) out.push_back(static_cast<std::byte>(value >> shift));
  return out;
}

Bytes fpdu(const Segment& segment, bool crc) { return fpdu(ulpdu(segment), crc); }

Bytes send(std::uint32_t msn, Bytes payload) {
  Segment segment;
  segment.msn = msn;
  segment.payload = std::move(payload);
  return fpdu(segment);
}

Bytes write(std::uint32_t stag, std::uint64_t to, Bytes payload, bool last) {
  Segment segment;
  segment.tagged = true;
  segment.last = last;
  segment.opcode = kWrite;
  segment.stag = stag;
  segment.to = to;
  segment.payload = std::move(payload);
  return fpdu(segment);
}

Bytes read_request_payload(const Read& read) {
  Bytes out;
  put(out, read.sink_stag, 4);
  put(out, read.sink_to, 8);
  put(out, read.size, 4);
  put(out, read.source_stag, 4);
  put(out, read.source_to, 8);
  return out;
}

Bytes read_request(std::uint32_t msn, const Read& read) {
  Segment segment;
  segment.opcode = kReadRequest;
  segment.qn = 1;
  segment.msn = msn;
  segment.payload = read_request_payload(read);
  return fpdu(segment);
}

Bytes startup(const Startup& frame) {
  Bytes out = bytes_of(frame.reply ? "MPA ID Rep Frame" : "MPA ID Req Frame");
  put(out, frame.flags, 1);
  put(out, frame.revision, 1);
  put(out, frame.private_data.size() + (frame.ird ? 4 : 0), 2);
  if (frame.ird) {
    put(out, *frame.ird, 2);
    put(out, frame.ord, 2);
  }
  append(out, frame.private_data);
  return out;
}

Bytes join(std::initializer_list<Bytes> parts) {
  Bytes out;
  for (const Bytes& part : parts) append(out, part);
  return out;
}

std::vector<Parsed> take_fpdus(Bytes& stream) {
  std::vector<Parsed> found;
  std::size_t at = 0;
  while (stream.size() - at >= 2) {
    const std::size_t length = get(std::span(stream).subspan(at), 2);
    const std::size_t whole = (2 + length + 3) / 4 * 4 + 4;
    if (stream.size() - at < whole) break;
    found.push_back(parse(std::span(stream).subspan(at, whole), length));
    at += whole;
  }
  stream.erase(stream.begin(), stream.begin() + static_cast<std::ptrdiff_t>(at));
  return found;
}

}  // namespace nfsrdma::fabric::testing::wire
