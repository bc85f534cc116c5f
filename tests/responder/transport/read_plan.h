// Where the Read chunks of a call go in memory, and where they belong in its stream
// (RFC 8166 section 3.4.5).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/rdma/chunk_lists.h"
#include "transport/xdr/decoder.h"

namespace nfsrdma::responder {

/// Limits of a responder.
struct ReadLimits {
  std::size_t chunk = 0;  ///< bytes of one Read chunk (wsize and a little)
  std::size_t total = 0;  ///< bytes of all Read chunks of a call: the buffer they are pulled into
};

class ReadPlan {
 public:
  /// Lays the Read list out; segments of one Position are joined in list order, whatever stands
  /// between them. False: too many chunks or too many bytes, and nothing may be pulled
  /// (V1-8.1.4-1; RFC 8267 section 6.4.2).
  bool lay_out(std::span<const rdma::ReadSegment> segments, const ReadLimits& limits);

  std::size_t total() const { return total_; }
  /// Where segment i of the Read list belongs in the buffer.
  std::size_t place_of(std::size_t i) const { return places_[i]; }
  bool has_position_zero() const { return count_ > 0 && chunks_[0].position == 0; }

  /// The message of a Long Call. Call only with has_position_zero().
  std::span<const std::byte> long_call(std::span<const std::byte> buffer) const;
  /// The other chunks as items of a stream of `stream_size` reduced bytes. False: a Position that
  /// cannot be one of that stream. The items view `buffer` and live in this object.
  bool place_items(std::span<const std::byte> buffer, std::size_t stream_size);
  std::span<const xdr::PlacedItem> items() const { return {items_.data(), item_count_}; }

 private:
  struct Chunk {
    std::uint32_t position = 0;
    std::size_t begin = 0;
    std::uint64_t length = 0;
    std::size_t filled = 0;
  };
  /// One chunk an eligible item, and Position Zero.
  static constexpr std::size_t kMaxChunks = xdr::Encoder::kMaxOmitted + 1;

  Chunk* chunk_at(std::uint32_t position);
  std::span<Chunk> chunks() { return {chunks_.data(), count_}; }

  std::array<Chunk, kMaxChunks> chunks_;
  std::size_t count_ = 0;
  std::array<std::size_t, rdma::kMaxReadSegments> places_{};
  std::array<xdr::PlacedItem, kMaxChunks> items_;
  std::size_t item_count_ = 0;
  std::size_t total_ = 0;
};

}  // namespace nfsrdma::responder
