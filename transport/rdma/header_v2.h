// The transport header of RPC-over-RDMA version 2 (draft-cel-nfsv4-rpcrdma-version-two-00 section
// 4.2): types and codec only. Nothing in this program speaks version 2 yet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/rdma/chunk_lists.h"
#include "transport/xdr/decoder.h"
#include "transport/xdr/encoder.h"

namespace nfsrdma::rdma::v2 {

inline constexpr std::uint32_t kVersionTwo = 2;

/// Kinds of message. RDMA_MSGP and RDMA_DONE are reserved and have no body.
enum rpcrdma2_proc : std::uint32_t {
  RDMA_MSG = 0,
  RDMA_NOMSG = 1,
  RDMA_MSGP = 2,
  RDMA_DONE = 3,
  RDMA_ERROR = 4,
  RDMA_OPTIONAL = 5,
};

enum rpcrdma2_errcode : std::uint32_t {
  RDMA_ERR_VERS = 1,
  RDMA_ERR_BAD_HEADER = 2,
  RDMA_ERR_INVAL_OPTION = 3,
};

/// The body of RDMA_ERROR. The range belongs to RDMA_ERR_VERS only.
struct rpcrdma2_error {
  rpcrdma2_errcode rdma_err = RDMA_ERR_BAD_HEADER;
  std::uint32_t rdma_vers_low = 0;
  std::uint32_t rdma_vers_high = 0;
};

/// The body of RDMA_OPTIONAL. After decoding, rdma_optinfo is a view of the message.
struct rpcrdma2_optional {
  std::uint32_t rdma_opttype = 0;
  std::span<const std::byte> rdma_optinfo;
};

/// A whole header. Which body counts is told by `proc`.
struct Header {
  std::uint32_t rdma_xid = 0;
  std::uint32_t rdma_vers = kVersionTwo;
  std::uint32_t rdma_credit = 0;
  rpcrdma2_proc proc = RDMA_MSG;
  ChunkLists rdma_chunks;
  rpcrdma2_error rdma_error;
  rpcrdma2_optional rdma_optional;
};

/// Wire sizes in octets of the messages without chunks.
inline constexpr std::size_t kMinError = 20;
inline constexpr std::size_t kMinOptional = 24;
/// Bound of rdma_optinfo: more than any message that a receive buffer of ours can hold.
inline constexpr std::size_t kMaxOptInfo = 64 * 1024;

void encode_header(xdr::Encoder& out, const Header& header);
/// Decodes a header; `in` then stands at the Payload stream, if there is one. Faults stay in `in`:
/// a version other than 2, an undefined kind or error code, lists that do not decode.
void decode_header(xdr::Decoder& in, Header& header);

}  // namespace nfsrdma::rdma::v2
