// Segments of a stream, as iWARP has them: up to 64 KiB of a message between a header and a CRC
// over both (RFC 5041 section 4, RFC 5044 section 4). Only what costs time is there.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tests/bench/relay/wire.h"

namespace nfsrdma::bench::relay {

/// As long as the length field and the header of a tagged segment.
struct SegmentHeader {
  enum class Kind : std::uint32_t {
    message,  ///< an Ask with what follows it, or an Answer
    data,     ///< what was fetched, or the body of an answer
  };
  std::uint32_t size = 0;  ///< bytes of payload
  Kind kind = Kind::message;
  std::array<std::uint32_t, 2> unused{};
};
static_assert(sizeof(SegmentHeader) == 16);

using Crc = std::uint32_t;

/// Bytes of payload in one segment: 65,530 less the header, as nfsrdma has it on loopback.
inline constexpr std::size_t kMostInSegment = 65516;
/// Bytes of a segment that are not payload.
inline constexpr std::size_t kFraming = sizeof(SegmentHeader) + sizeof(Crc);
inline constexpr std::size_t kMostSegments = (kMostData + kMostInSegment - 1) / kMostInSegment;
/// A WRITE of more bytes is fetched by the server: the Ask goes without them, an Answer with kFetch
/// comes, the data follow.
inline constexpr std::size_t kMostInline = std::size_t{64 - 1} << 10;
inline constexpr std::int32_t kFetch = -1;

/// Bytes of a body in segments.
inline std::size_t framed_size(std::size_t body) {
  return body + (body + kMostInSegment - 1) / kMostInSegment * kFraming;
}

Crc crc_of(const SegmentHeader& header, std::span<const std::byte> payload,
           std::span<const std::byte> more = {});

/// An Answer's segment.
struct AnswerSegment {
  SegmentHeader header{.size = sizeof(Answer)};
  Answer answer;
  std::array<std::byte, sizeof(Crc)> crc{};
};
inline constexpr std::size_t kAnswerSegment = sizeof(SegmentHeader) + sizeof(Answer) + sizeof(Crc);

}  // namespace nfsrdma::bench::relay
