// The STags of all connections of one fabric: which memory each exposes, to which connection, with
// which right, and until when (RFC 5040 section 7, RFC 5042 section 5; V1-8.1.1-1, V1-8.1.3-1).
//
// An STag is a 24-bit index and an 8-bit key. Index, key and base offset are drawn at random for
// each lease, so that an STag of the past names nothing again by chance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "transport/fabric/fabric.h"
#include "transport/fabric/iwarp/placed_ranges.h"
#include "transport/fabric/iwarp/random.h"

namespace nfsrdma::fabric::iwarp {

/// Why an access was refused.
enum class Denial : std::uint8_t { none, unknown_stag, foreign_stag, bounds, access_right, wrap };
std::string_view denial_text(Denial denial);

class StagTable {
 public:
  /// Identifies a connection; never dereferenced.
  using Owner = const void*;
  using Index = std::uint32_t;
  static constexpr Index kNoIndex = ~Index{0};
  /// STags from here on are never a lease's; connections use them as sinks of their RDMA Reads.
  static constexpr std::uint32_t kFirstSinkStag = 0x80000000;

  struct Target {
    Denial denial = Denial::none;
    Index index = kNoIndex;
    std::span<std::byte> memory;
  };

  /// Lease transitions, as documented at LeaseState. They assert the state they start from.
  Result<void> prepare(Owner owner, Lease& lease, std::span<std::byte> memory, Access access);
  void bind(Owner owner, Lease& lease);
  void cancel(Owner owner, Lease& lease);
  /// True: the lease is free. False: it is invalidating until its last pin is gone.
  bool invalidate(Owner owner, Lease& lease);
  /// Ends the invalidating of a lease that unpin returned.
  void finish_invalidating(Owner owner, Lease& lease);
  /// Makes every lease of a connection free.
  void release_all(Owner owner);

  /// Checks an access by the peer of `owner`.
  Target find(Owner owner, std::uint32_t stag, std::uint64_t offset, std::uint64_t length,
              Access access) const;
  /// The peer of `owner` ends an exposure. The lease stays bound until it is invalidated.
  Denial invalidate(Owner owner, std::uint32_t stag);
  /// Whether the peer has invalidated the lease already.
  bool is_open(const Lease& lease) const { return entries_[lease.provider_index].open; }

  /// The peer has placed `length` bytes at this tagged offset of a lease that find() returned.
  void note_placed(Index index, std::uint64_t offset, std::size_t length) {
    Entry& entry = entries_[index];
    entry.placed.add(entry.memory, offset - entry.base, length);
  }
  /// Bytes at the start of a lease that is in use which the peer has placed, without a gap.
  std::size_t placed(const Lease& lease) const {
    return entries_[lease.provider_index].placed.contiguous();
  }

  /// A pinned lease's memory is in use by the connection: invalidate() waits for it.
  void pin(Index index) { ++entries_[index].pins; }
  /// Returns the lease when this was the last pin of an invalidating one, otherwise null.
  Lease* unpin(Index index);

  std::size_t in_use() const { return entries_.size() - free_.size(); }
  Random& random() { return random_; }

 private:
  struct Entry {
    Lease* lease = nullptr;  ///< null: free
    Owner owner = nullptr;
    std::span<std::byte> memory;
    std::uint64_t base = 0;
    std::uint32_t stag = 0;
    std::uint32_t pins = 0;
    Access access = Access::remote_read;
    bool open = false;  ///< the peer may use it
    PlacedRanges placed;
  };

  bool grow();
  Entry& entry_of(Owner owner, const Lease& lease, LeaseState expected);
  void release(Index index);

  std::vector<Entry> entries_;
  std::vector<Index> free_;
  Random random_;
};

}  // namespace nfsrdma::fabric::iwarp
