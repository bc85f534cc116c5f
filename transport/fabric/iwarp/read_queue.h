// RDMA Reads in both directions: ours, limited by the ORD, and the peer's, limited by our IRD
// (RFC 5040 section 4.4, RFC 6581 section 4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/base/ring.h"
#include "transport/fabric/fabric.h"
#include "transport/fabric/iwarp/random.h"
#include "transport/fabric/iwarp/rdmap_header.h"
#include "transport/fabric/iwarp/stag_table.h"
#include "transport/fabric/iwarp/violation.h"

namespace nfsrdma::fabric::iwarp {

/// RDMA Reads this side posted: waiting, then requested, then answered, in posting order.
class OutboundReads {
 public:
  explicit OutboundReads(Random& random) : random_(random) {}

  void set_limit(std::uint32_t ord) { ord_ = ord; }
  std::uint32_t limit() const { return ord_; }
  Result<void> post(std::span<std::byte> into, const Segment& from, void* context);

  /// Whether a Read Request may be sent now.
  bool can_request() const { return requested_ != reads_.tail() && outstanding() < ord_; }
  /// The next Read Request; it counts as sent. Call only if can_request().
  ReadRequest take_request();

  /// The memory for a segment of a Read Response: only the oldest outstanding Read may be answered.
  Checked<std::span<std::byte>> place(std::uint32_t stag, std::uint64_t to, std::size_t length);
  /// The segment arrived. On the last one the Read is done and `context` is set: returns true.
  Checked<bool> deliver(std::size_t length, bool last, void*& context);
  void clear();

 private:
  struct Read {
    std::span<std::byte> into;
    Segment from;
    void* context = nullptr;
    std::uint32_t sink_stag = 0;
    std::uint64_t sink_to = 0;
    std::size_t received = 0;
  };

  std::size_t outstanding() const { return static_cast<std::size_t>(requested_ - reads_.head()); }

  Random& random_;
  Ring<Read> reads_;
  Ring<Read>::Position requested_ = 0;  // reads before it are requested
  std::uint32_t ord_ = 0;
};

/// A Read the peer asked for. Its lease is pinned until the response is written.
struct InboundRead {
  StagTable::Index lease = StagTable::kNoIndex;  ///< none for a Read of zero bytes
  std::span<const std::byte> source;
  std::uint32_t sink_stag = 0;
  std::uint64_t sink_to = 0;
};

class InboundReads {
 public:
  void set_limit(std::uint32_t ird) { ird_ = ird; }
  /// Whether the peer may have another one outstanding. A response that is in FPDUs entirely no
  /// longer counts: the peer may have it already.
  bool has_room() const { return reads_.tail() - framed_ < ird_; }
  std::uint32_t limit() const { return ird_; }
  void push(const InboundRead& read) { reads_.push(read); }

  /// The next response to put into FPDUs, or null.
  InboundRead* next() { return framed_ == reads_.tail() ? nullptr : &reads_[framed_]; }
  void mark_framed() { ++framed_; }
  /// Everything framed was written to the socket.
  void mark_written() { written_ = framed_; }
  /// Takes the oldest response that was written; false when there is none.
  bool take_written(InboundRead& read);
  void clear();

 private:
  Ring<InboundRead> reads_;
  Ring<InboundRead>::Position framed_ = 0;   // reads before it are answered in FPDUs
  Ring<InboundRead>::Position written_ = 0;  // reads before it are answered on the wire
  std::uint32_t ird_ = 0;
};

}  // namespace nfsrdma::fabric::iwarp
