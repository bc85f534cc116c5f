// The transport header of RPC-over-RDMA versions 1 (RFC 8166 section 4) and 2
// (draft-cel-nfsv4-rpcrdma-version-two-00 section 4.2): types and codec. Both have the same fixed
// words and chunk lists; rdma_vers decides what else there can be. Shared by the requester, the
// backward responder and the test responder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/rdma/chunk_lists.h"
#include "transport/xdr/decoder.h"
#include "transport/xdr/encoder.h"

namespace nfsrdma::rdma {

inline constexpr std::uint32_t kVersionOne = 1;
inline constexpr std::uint32_t kVersionTwo = 2;

/// Versions that one side takes, or says that it takes.
struct VersionRange {
  std::uint32_t low = kVersionOne;
  std::uint32_t high = kVersionOne;
  bool has(std::uint32_t version) const { return low <= version && version <= high; }
};

/// Kinds of message (section 4.2.4). RDMA_MSGP and RDMA_DONE are never sent; RDMA_OPTIONAL exists
/// in version 2 only.
enum rdma_proc : std::uint32_t {
  RDMA_MSG = 0,
  RDMA_NOMSG = 1,
  RDMA_MSGP = 2,
  RDMA_DONE = 3,
  RDMA_ERROR = 4,
  RDMA_OPTIONAL = 5,
};
inline constexpr std::size_t kProcs = 6;

/// Header errors (section 4.5). Version 2 calls ERR_CHUNK RDMA_ERR_BAD_HEADER: the same value, for
/// any header that cannot be used.
enum rpc_rdma_errcode : std::uint32_t {
  ERR_VERS = 1,
  ERR_CHUNK = 2,
  RDMA_ERR_INVAL_OPTION = 3,  ///< version 2: an rdma_opttype that the receiver does not know
};
inline constexpr rpc_rdma_errcode RDMA_ERR_BAD_HEADER = ERR_CHUNK;

/// The body of RDMA_ERROR. The range belongs to ERR_VERS only.
struct RdmaError {
  rpc_rdma_errcode err = ERR_CHUNK;
  std::uint32_t rdma_vers_low = 0;
  std::uint32_t rdma_vers_high = 0;
};

/// The body of RDMA_OPTIONAL. After decoding, rdma_optinfo is a view of the message.
struct RdmaOptional {
  std::uint32_t rdma_opttype = 0;
  std::span<const std::byte> rdma_optinfo;
};

/// A whole header. Which of chunks, error and optional counts is told by `proc`.
struct Header {
  std::uint32_t rdma_xid = 0;
  std::uint32_t rdma_vers = kVersionOne;
  std::uint32_t rdma_credit = 0;
  rdma_proc proc = RDMA_MSG;
  ChunkLists chunks;
  RdmaError error;
  RdmaOptional optional;
};

/// Wire sizes in bytes.
inline constexpr std::size_t kFixedWords =
    16;  ///< xid, vers, credit, proc: the same in any version
inline constexpr std::size_t kMinHeader = kFixedWords + kChunkListsMin;
inline constexpr std::size_t kMinError = 20;     ///< RDMA_ERROR with ERR_CHUNK
inline constexpr std::size_t kErrVersSize = 28;  ///< RDMA_ERROR with ERR_VERS
inline constexpr std::size_t kMinOptional = 24;  ///< RDMA_OPTIONAL with empty rdma_optinfo
/// Bound of rdma_optinfo: more than any message that a receive buffer can hold in version 2.
inline constexpr std::size_t kMaxOptInfo = 64 * 1024;

/// Why a header was not accepted, and so what its receiver does.
enum class HeaderFault : std::uint8_t {
  none,
  too_short,       ///< less than its kind needs; drop without an answer. No field is valid if the
                   ///< message is shorter than kFixedWords, else the fixed words are
  version,         ///< rdma_vers is not one of those taken. A responder answers ERR_VERS
  undefined_proc,  ///< a responder answers ERR_CHUNK
  withdrawn_proc,  ///< RDMA_MSGP or RDMA_DONE (section 4.6); see `proc`
  malformed,       ///< lists, error or option do not decode, or RDMA_NOMSG without any list.
                   ///< A responder answers ERR_CHUNK
};
const char* header_fault_name(HeaderFault fault);

/// Bytes of a header of RDMA_MSG or RDMA_NOMSG with these lists.
inline std::size_t header_size(const ChunkLists& lists) {
  return kFixedWords + encoded_size(lists);
}

/// header.rdma_vers must be a version that has header.proc.
void encode_header(xdr::Encoder& out, const Header& header);

/// Decodes the header at the start of a message; `in` then stands at the Payload stream. The
/// shortest message depends on its kind: 28 bytes for RDMA_MSG, RDMA_NOMSG and ERR_VERS, 24 for
/// RDMA_OPTIONAL, 20 for other errors (requirement F-3: the 28 bytes of section 4.5 would drop
/// every ERR_CHUNK). A responder that wants the rule to the letter drops every message of version 1
/// shorter than kMinHeader itself.
///
/// RDMA_ERROR is decoded whatever its rdma_vers says (section 7, requirement F-20), and bytes
/// after an error body are ignored; RDMA_ERR_INVAL_OPTION exists only where version 2 is taken. The
/// decoder's own fault tells field and offset for the log.
HeaderFault decode_header(xdr::Decoder& in, Header& header, VersionRange taken = {});

}  // namespace nfsrdma::rdma
