// READ (RFC 8881 section 18.22).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "client/compound/state_holder.h"
#include "client/proto/object.h"
#include "transport/rpc/call.h"

namespace nfsrdma::client {

struct RequestContext;

struct ReadData {
  rpc::Reply reply;                 ///< keeps `data` valid when it came inline
  std::span<const std::byte> data;  ///< in the sink when placed, else in the reply
  bool eof = false;
  bool placed = false;  ///< the data arrived in the sink by RDMA
};

/// Reads at most sink.size() bytes, and no more than rsize. `sink` is registered memory that stays
/// the operation's until it has ended, also if the caller was answered before; so are `room` bytes
/// behind it, where a server may put the XDR pad.
Task<Result<ReadData>> read(RequestContext& context, Credential caller, FileHandle file,
                            StateRef state, std::uint64_t offset, std::span<std::byte> sink,
                            std::size_t room = 0);

}  // namespace nfsrdma::client
