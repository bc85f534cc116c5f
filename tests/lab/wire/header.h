// An RPC-over-RDMA header as anybody may write it: any number of chunks and segments, any values.
// The product's own codec (transport/rdma/header.h) takes and writes only what is right.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "transport/fabric/fabric.h"
#include "transport/rdma/header.h"

namespace nfsrdma::lab {

using Bytes = std::vector<std::byte>;

/// Segments, or chunks, of a header that is read: more is taken for nonsense.
inline constexpr std::size_t kMaxListed = 4096;

struct ReadEntry {
  std::uint32_t position = 0;
  fabric::Segment segment;
};
using Chunk = std::vector<fabric::Segment>;

struct WireHeader {
  std::uint32_t xid = 0;
  std::uint32_t version = rdma::kVersionOne;
  std::uint32_t credit = 0;
  std::uint32_t proc = rdma::RDMA_MSG;
  std::vector<ReadEntry> reads;
  std::vector<Chunk> writes;
  std::optional<Chunk> reply;
  // Of RDMA_ERROR.
  std::uint32_t error = 0;
  std::uint32_t lowest = 0;
  std::uint32_t highest = 0;
  /// Bytes of the header; the Payload stream begins there. Set by decode_header().
  std::size_t size = 0;
};

/// Fixed words and, but for RDMA_ERROR, chunk lists.
Bytes encode_header(const WireHeader& header);

/// Nothing when the lists do not decode; the fixed words are then all that `header` has.
bool decode_header(std::span<const std::byte> message, WireHeader& header);

}  // namespace nfsrdma::lab
