// How one Call and its Reply travel: inline, with Read or Write chunks, as Long Messages, or in a
// combination (RFC 8166 section 3.5). Pure arithmetic on sizes.
//
// The Call:   everything inline if it fits; else the largest DDP-eligible arguments become Read
//             chunks until it fits; else what is left becomes a Position Zero Read chunk.
// The Reply:  everything inline if the largest possible one fits; else the DDP-eligible result gets
//             a Write chunk; else the rest gets a Reply chunk too.
//
// Sizes count the transport header, in the Reply with the chunks it has to repeat (section 4.3.3,
// requirement F-22).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/base/result.h"
#include "transport/rdma/options.h"
#include "transport/rdma/private_data.h"
#include "transport/rpc/call.h"
#include "transport/xdr/encoder.h"

namespace nfsrdma::rdma {

struct CallPlan {
  bool long_call = false;       ///< RDMA_NOMSG: the Payload is a Position Zero Read chunk
  std::uint32_t reduced = 0;    ///< bit i: omitted item i travels as a Read chunk
  bool write_chunk = false;     ///< result_sink is offered as a Write chunk
  std::size_t reply_chunk = 0;  ///< bytes of the Reply chunk; 0: none

  bool is_reduced(std::size_t item) const { return (reduced >> item & 1U) != 0; }
};

/// Segments that a piece of memory is cut into.
std::size_t segments_of(std::size_t length, const Options& options);

/// An Error of Layer::transport if no combination of chunks can carry the Call.
Result<CallPlan> plan_call(const rpc::Call& call, const Thresholds& thresholds,
                           const Options& options);

/// Place of omitted item `index` in the unreduced Payload stream: the Position of its Read chunk
/// (section 3.4.5). Counts the bytes and pads of all omitted items before it.
std::uint32_t position_of(std::span<const xdr::OmittedItem> items, std::size_t index);

/// The Payload stream less its reduced items, in pieces: parts of the encoded call, items that
/// stay, and their pads. Views only, nothing is copied.
struct PayloadPieces {
  /// Around each item: the part of the encoded call before it, the item, its pad; and the last
  /// part.
  static constexpr std::size_t kMax = 3 * xdr::Encoder::kMaxOmitted + 1;

  std::size_t count = 0;
  std::array<std::span<const std::byte>, kMax> pieces;

  // A range itself: a view of a temporary would dangle in a range-for.
  auto begin() const { return pieces.begin(); }
  auto end() const { return pieces.begin() + count; }
  std::size_t length() const;
  void add(std::span<const std::byte> piece) {
    if (!piece.empty()) pieces[count++] = piece;
  }
};
/// `zeros` are at least three zero bytes that outlive the message.
PayloadPieces payload_pieces(const xdr::Encoder& call, const CallPlan& plan,
                             std::span<const std::byte> zeros);

}  // namespace nfsrdma::rdma
