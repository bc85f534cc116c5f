// How a reply travels: what goes into Write chunks, what inline, what into the Reply chunk
// (RFC 8166 sections 3.5 and 4.3, RFC 8267 section 6.4.1).
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "tests/responder/transport/pieces.h"
#include "transport/rdma/header.h"
#include "transport/xdr/encoder.h"

namespace nfsrdma::responder {

/// The faults of a fault script at this level.
struct ReplyTwist {
  bool inline_result = false;  ///< ignore the Write chunks
  bool write_pad = false;      ///< write the pad behind the item, and count it
};

class ReplyPlan {
 public:
  /// One RDMA Write.
  struct Transfer {
    fabric::Segment to;
    PieceList from;
  };

  /// Four zeros for pads, in memory that the provider can send and write; they outlive the plan's
  /// use.
  void set_zeros(std::span<const std::byte> zeros) { zeros_ = zeros; }

  /// Plans the reply whose RPC message is in `results`; fills header.proc and header.chunks.
  ///
  /// Write chunk n takes the n-th DDP-eligible result (requirement F-4): an empty chunk sends it
  /// inline, chunks left over come back unused (F-5). What is left goes inline if it fits into
  /// `threshold` bytes with its header, else into the Reply chunk.
  ///
  /// False: it does not fit; nothing must be written, and the answer is ERR_CHUNK (V1-4.5.3-3).
  bool make(const xdr::Encoder& results, const rdma::ChunkLists& call, std::size_t threshold,
            const ReplyTwist& twist, rdma::Header& header);

  /// To be posted in order, before the Send.
  std::span<const Transfer> transfers() const { return {transfers_.data(), transfer_count_}; }
  /// The rest of the Send behind the header: the message, or nothing for a Long Reply.
  const PieceList& inline_message() const { return inline_; }

 private:
  static constexpr std::size_t kMaxTransfers = (rdma::kMaxWriteChunks + 1) * rdma::kMaxSegments;

  std::span<const std::byte> pad_after(std::size_t length) const;
  bool place_items(const xdr::Encoder& results, const ReplyTwist& twist, rdma::ChunkLists& lists,
                   const rdma::ChunkLists& call);
  bool fill(rdma::WriteChunk& chunk, const rdma::WriteChunk& provided, const PieceList& content);
  void gather(const xdr::Encoder& results);

  std::span<const std::byte> zeros_;
  std::array<Transfer, kMaxTransfers> transfers_;
  std::size_t transfer_count_ = 0;
  std::array<bool, xdr::Encoder::kMaxOmitted> placed_{};
  PieceList inline_;
};

}  // namespace nfsrdma::responder
