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
class Compound;

struct ReadData {
  rpc::Reply reply;                 ///< keeps `data` valid when it came inline
  std::span<const std::byte> data;  ///< in the sink when placed, else in the reply
  bool eof = false;
  bool placed = false;  ///< the data arrived in the sink by RDMA
};

/// Where the data of a READ goes: registered memory that stays the request's until it has ended,
/// also if the caller was answered before. So do `room` bytes behind it, where a server may put the
/// XDR pad.
struct ReadSink {
  std::span<std::byte> bytes;
  std::size_t room = 0;
};

/// For a request that reads beside something else, as its last operation: a READ of the first bytes
/// of the current file, in the name of the current stateid (RFC 8881 section 16.2.3.1.2).
void add_read(Compound& compound, ReadSink sink);
/// Its result, the end of the reply, which ReadData takes over.
Result<ReadData> take_read(Compound& compound, std::size_t asked);

/// Reads at most sink.size() bytes, and no more than rsize. `sink` is registered memory that
/// belongs to the operation until it has ended, even if the caller is answered before. So do `room`
/// bytes behind it, where a server may put the XDR pad.
Task<Result<ReadData>> read(RequestContext& context, Credential caller, FileHandle file,
                            StateRef state, std::uint64_t offset, std::span<std::byte> sink,
                            std::size_t room = 0);

}  // namespace nfsrdma::client
