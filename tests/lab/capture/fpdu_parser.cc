#include "tests/lab/capture/fpdu_parser.h"

#include <algorithm>

#include "tests/lab/capture/byte_view.h"
#include "transport/fabric/iwarp/crc32c.h"
#include "transport/fabric/iwarp/ddp_header.h"
#include "transport/fabric/iwarp/fpdu_batch.h"
#include "transport/fabric/iwarp/rdmap_header.h"

namespace nfsrdma::lab {
namespace {

namespace wire = fabric::iwarp;

constexpr std::uint64_t kMarkerDistance = 512;
constexpr std::size_t kMarker = 4;
constexpr std::uint8_t kReservedDdpBits = 0x3c;
constexpr std::uint8_t kReservedRdmapBits = 0x30;
constexpr std::size_t kWorthRemoving = 64 * 1024;

std::uint32_t crc_of(std::span<const std::byte> bytes) {
  wire::Crc32c crc;
  crc.add(bytes);
  return crc.value();
}

/// The CRC is the only field of iWARP that is little-endian (RFC 5044 section 4.4).
std::uint32_t little_endian(std::span<const std::byte> bytes) {
  return __builtin_bswap32(ByteView(bytes).u32(0));
}

}  // namespace

bool begins_like_fpdu(std::span<const std::byte> bytes) {
  const ByteView view(bytes);
  const std::uint8_t ddp = view.u8(wire::kUlpduLengthField);
  const std::uint8_t rdmap = view.u8(wire::kUlpduLengthField + 1);
  if (!view.has(wire::kUlpduLengthField + wire::kTaggedHeader) ||
      view.u16(0) < wire::kTaggedHeader) {
    return false;
  }
  if ((ddp & kReservedDdpBits) != 0 || (rdmap & kReservedRdmapBits) != 0) return false;
  if (wire::rdmap_version(rdmap) > wire::kRdmapVersion || (ddp & 0x03) != wire::kDdpVersion) {
    return false;
  }
  const wire::Opcode opcode = wire::rdmap_opcode(rdmap);
  const bool tagged = opcode == wire::Opcode::rdma_write || opcode == wire::Opcode::read_response;
  return wire::is_known(opcode) && tagged == wire::is_tagged(std::byte{ddp});
}

/// Bytes of the stream that hold `clean` bytes of FPDUs; nothing when there are not so many yet.
std::optional<std::size_t> FpduParser::raw_length(std::size_t clean) const {
  if (!markers_) return clean <= pending().size() ? std::optional(clean) : std::nullopt;
  std::size_t raw = 0;
  while (clean > 0) {
    const std::uint64_t within = (position_ + raw) % kMarkerDistance;
    if (within == 0) raw += kMarker;
    const std::uint64_t room = kMarkerDistance - (position_ + raw) % kMarkerDistance;
    const std::size_t step = std::min<std::size_t>(clean, room);
    raw += step;
    clean -= step;
  }
  return raw <= pending().size() ? std::optional(raw) : std::nullopt;
}

std::vector<std::byte> FpduParser::without_markers(std::size_t raw) const {
  const auto stream = pending().first(raw);
  if (!markers_) return {stream.begin(), stream.end()};
  std::vector<std::byte> clean;
  for (std::size_t at = 0; at < raw;) {
    if ((position_ + at) % kMarkerDistance == 0) at += kMarker;
    const std::uint64_t room = kMarkerDistance - (position_ + at) % kMarkerDistance;
    const std::size_t step = std::min<std::size_t>(raw - std::min(at, raw), room);
    const auto piece = stream.subspan(std::min(at, raw), step);
    clean.insert(clean.end(), piece.begin(), piece.end());
    at += std::max<std::size_t>(step, 1);
  }
  return clean;
}

/// Markers inside an FPDU are part of what its CRC is over; for one before its first byte
/// implementations differ, and either is taken.
bool FpduParser::crc_matches(std::span<const std::byte> clean, std::size_t raw) const {
  const std::uint32_t stored = little_endian(clean.last(wire::kCrcField));
  if (!markers_) return crc_of(clean.first(clean.size() - wire::kCrcField)) == stored;
  std::size_t end = *raw_length(clean.size() - wire::kCrcField);
  if (end > raw) return false;
  const auto whole = pending();
  if (crc_of(whole.first(end)) == stored) return true;
  return position_ % kMarkerDistance == 0 && end > kMarker &&
         crc_of(whole.subspan(kMarker, end - kMarker)) == stored;
}

std::optional<Fpdu> FpduParser::next() {
  const auto head = raw_length(wire::kUlpduLengthField);
  if (!head) return {};
  const std::size_t length = ByteView(without_markers(*head)).u16(0);
  const std::size_t body = wire::kUlpduLengthField + length;
  const auto raw = raw_length(body + wire::fpdu_pad(length) + wire::kCrcField);
  if (!raw) return {};
  const std::vector<std::byte> clean = without_markers(*raw);
  Fpdu fpdu;
  fpdu.ulpdu.assign(clean.begin() + wire::kUlpduLengthField,
                    clean.begin() + static_cast<std::ptrdiff_t>(body));
  fpdu.crc_wrong = crc_ && !crc_matches(clean, *raw);
  consume(*raw);
  return fpdu;
}

void FpduParser::consume(std::size_t raw) {
  position_ += raw;
  begin_ += raw;
  if (begin_ < kWorthRemoving && begin_ < pending_.size()) return;
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(begin_));
  begin_ = 0;
}

}  // namespace nfsrdma::lab
