// A call that waits for its answer, and the memory it has offered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "tests/lab/capture/wire.h"
#include "transport/rdma/header.h"

namespace nfsrdma::lab {

/// Bounds what all connections of a capture keep of data that goes by RDMA: a hostile capture can
/// say with a few bytes that there is much.
class Budget {
 public:
  explicit Budget(std::size_t bytes) : left_(bytes) {}
  bool take(std::size_t bytes) {
    if (bytes > left_) return false;
    left_ -= bytes;
    return true;
  }
  void give_back(std::size_t bytes) { left_ += bytes; }

 private:
  std::size_t left_;
};

/// Which bytes of a segment a capture has, in whatever order they came.
class SeenBytes {
 public:
  void add(std::uint64_t begin, std::uint64_t end);
  /// So many from the first one on, without a hole.
  std::uint64_t contiguous() const { return contiguous_; }

 private:
  /// More parts behind holes are not remembered, and so count as not seen: no server moves data so.
  static constexpr std::size_t kMostIslands = 1024;

  std::uint64_t contiguous_ = 0;
  std::map<std::uint64_t, std::uint64_t> islands_;  ///< behind a hole: from where on, and how far
};

/// One segment of a chunk, and what was moved to or from it.
class Offer {
 public:
  enum class Kind : std::uint8_t { read, write, reply };
  /// More than that of one segment is not kept: no NFS server moves more.
  static constexpr std::size_t kMostKept = 16 << 20;

  Offer(Budget& budget, Kind kind, std::uint32_t place, const fabric::Segment& segment)
      : budget_(&budget), kind_(kind), place_(place), segment_(segment) {}
  Offer(const Offer&) = delete;
  Offer& operator=(const Offer&) = delete;
  Offer(Offer&& from) noexcept;
  Offer& operator=(Offer&&) = delete;
  ~Offer() { budget_->give_back(data_.size()); }

  Kind kind() const { return kind_; }
  bool writable() const { return kind_ != Kind::read; }
  /// Of Kind::read: the Position. Of Kind::write: the number of the Write chunk.
  std::uint32_t place() const { return place_; }
  const fabric::Segment& segment() const { return segment_; }
  bool has_handle(std::uint32_t handle) const { return segment_.handle == handle; }
  /// Whether the range lies within the segment. No sum wraps.
  bool covers(std::uint64_t offset, std::uint64_t length) const;

  /// Notes bytes of a range that it covers.
  void keep(std::uint64_t offset, std::span<const std::byte> bytes);
  /// From the start of the segment, at most `length` bytes; fewer where the next one was not seen
  /// or not kept.
  std::span<const std::byte> data(std::uint64_t length) const;
  /// How far from the start of the segment something was moved, and whether all of it was seen.
  std::uint64_t end() const { return end_; }
  bool seen_whole() const { return seen_.contiguous() >= segment_.length; }

 private:
  Budget* budget_;
  Kind kind_;
  std::uint32_t place_;
  fabric::Segment segment_;
  std::vector<std::byte> data_;
  SeenBytes seen_;
  std::uint64_t end_ = 0;
  std::uint64_t kept_to_ = std::numeric_limits<std::uint64_t>::max();
};

struct RpcCall {
  Source source;
  std::uint32_t xid = 0;
  std::uint32_t version = 0;     ///< of RPC-over-RDMA; 0: over TCP
  std::size_t message_size = 0;  ///< of the Send, or of the record
  bool long_call = false;        ///< RDMA_NOMSG
  std::vector<std::byte> payload;
  std::vector<Offer> offers;       ///< in the order of the header
  std::uint32_t write_chunks = 0;  ///< with those that have no segments
  bool reply_chunk = false;        ///< also one without segments
  bool told = false;               ///< the whole call was given to the observer
  // Of the RPC header, as far as the call has one.
  std::uint32_t program = 0;
  std::uint32_t program_version = 0;
  std::uint32_t procedure = 0;
  std::uint32_t minor_version = 0;

  bool has_reads() const;
  /// Segments of the Write chunk of this number.
  std::size_t segments_of(std::uint32_t chunk) const;
  /// Of all segments of the Reply chunk.
  std::uint64_t reply_chunk_length() const;
};

}  // namespace nfsrdma::lab
