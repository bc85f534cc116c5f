// The transport header of RPC-over-RDMA version 1 (RFC 8166 section 4): types and codec. Shared by
// the requester, the backward responder and the test responder.
#pragma once

#include <cstddef>
#include <cstdint>

#include "transport/rdma/chunk_lists.h"
#include "transport/xdr/decoder.h"
#include "transport/xdr/encoder.h"

namespace nfsrdma::rdma {

inline constexpr std::uint32_t kVersionOne = 1;

/// Kinds of message (section 4.2.4). RDMA_MSGP and RDMA_DONE are never sent.
enum rdma_proc : std::uint32_t {
  RDMA_MSG = 0,
  RDMA_NOMSG = 1,
  RDMA_MSGP = 2,
  RDMA_DONE = 3,
  RDMA_ERROR = 4,
};

/// Header errors (section 4.5).
enum rpc_rdma_errcode : std::uint32_t { ERR_VERS = 1, ERR_CHUNK = 2 };

/// The body of RDMA_ERROR. The range belongs to ERR_VERS only.
struct RdmaError {
  rpc_rdma_errcode err = ERR_CHUNK;
  std::uint32_t rdma_vers_low = 0;
  std::uint32_t rdma_vers_high = 0;
};

/// A whole header. Which of chunks and error counts is told by `proc`.
struct Header {
  std::uint32_t rdma_xid = 0;
  std::uint32_t rdma_vers = kVersionOne;
  std::uint32_t rdma_credit = 0;
  rdma_proc proc = RDMA_MSG;
  ChunkLists chunks;
  RdmaError error;
};

/// Wire sizes in octets.
inline constexpr std::size_t kFixedWords =
    16;  ///< xid, vers, credit, proc: the same in any version
inline constexpr std::size_t kMinHeader = kFixedWords + kChunkListsMin;
inline constexpr std::size_t kMinError = 20;     ///< RDMA_ERROR with ERR_CHUNK
inline constexpr std::size_t kErrVersSize = 28;  ///< RDMA_ERROR with ERR_VERS

/// Why a header was not accepted, and so what its receiver does.
enum class HeaderFault : std::uint8_t {
  none,
  too_short,       ///< less than its kind needs; drop without an answer. No field is valid if the
                   ///< message is shorter than kFixedWords, else the fixed words are
  version,         ///< rdma_vers is not 1. A responder answers ERR_VERS
  undefined_proc,  ///< a responder answers ERR_CHUNK
  withdrawn_proc,  ///< RDMA_MSGP or RDMA_DONE (section 4.6); see `proc`
  malformed,       ///< lists or error body do not decode, or RDMA_NOMSG without any list.
                   ///< A responder answers ERR_CHUNK
};
const char* header_fault_name(HeaderFault fault);

/// Octets of a header of RDMA_MSG or RDMA_NOMSG with these lists.
inline std::size_t header_size(const ChunkLists& lists) {
  return kFixedWords + encoded_size(lists);
}

void encode_header(xdr::Encoder& out, const Header& header);

/// Decodes the header at the start of a message; `in` then stands at the Payload stream. The
/// shortest message depends on its kind: 28 octets for RDMA_MSG, RDMA_NOMSG and ERR_VERS, 20 for
/// ERR_CHUNK (requirement F-3: the 28 octets of section 4.5 would drop every ERR_CHUNK). A
/// responder that wants the rule to the letter drops every message shorter than kMinHeader itself.
///
/// RDMA_ERROR is decoded whatever its rdma_vers says (section 7, requirement F-20), and octets
/// after an error body are ignored. The decoder's own fault tells field and offset for the log.
HeaderFault decode_header(xdr::Decoder& in, Header& header);

}  // namespace nfsrdma::rdma
