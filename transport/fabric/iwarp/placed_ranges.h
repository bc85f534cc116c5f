// The bytes of a leased memory that the peer has placed by RDMA Write. All others are older data:
// another file's contents, another user's request. A reply must not claim any of those.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace nfsrdma::fabric::iwarp {

/// Allocates nothing. Servers write a chunk from its beginning, which is one comparison for each
/// segment; other orders, and the same bytes twice, are understood. Belongs to one lease.
class PlacedRanges {
 public:
  /// `length` bytes at `offset` of `memory`, all of the lease, have been placed.
  void add(std::span<std::byte> memory, std::size_t offset, std::size_t length);
  /// Bytes from the beginning on that have been placed without a gap.
  std::size_t contiguous() const { return contiguous_; }

 private:
  static constexpr std::size_t kMaxIslands = 8;
  /// A range behind a gap. Memory of a lease has fewer than 2^32 bytes.
  struct Island {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
  };

  void add_island(Island added);
  void reach_islands();
  void clear_gaps(std::span<std::byte> memory);

  std::size_t contiguous_ = 0;
  std::size_t count_ = 0;
  /// One more than is kept, for the moment before they are merged. In order, none touches another.
  std::array<Island, kMaxIslands + 1> islands_;
};

}  // namespace nfsrdma::fabric::iwarp
