// What can go wrong at the fabric boundary (transport/fabric/fabric.h), and who decides that it
// does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nfsrdma::faults {

/// Where the shim asks.
enum class At : std::uint8_t {
  connect,    ///< an endpoint is to be made that connects
  request,    ///< a connection request has come
  accepted,   ///< it was accepted
  receive,    ///< a Receive is posted
  prepare,    ///< memory is to be exposed
  write,      ///< an RDMA Write is posted
  read,       ///< an RDMA Read is posted
  read_done,  ///< one has completed
  send,       ///< a Send is posted
  send_done,  ///< one has completed
  startup,    ///< on the wire: the MPA Reply
  frame,      ///< on the wire: an FPDU to the client, or a fragment of a record
};

enum class What : std::uint8_t {
  drop,          ///< said to be done, and not done
  cut,           ///< of the bytes, no more than `amount`
  corrupt,       ///< byte `amount` is another one
  late,          ///< behind the Send that follows
  twice,         ///< done twice
  stag,          ///< `amount` is added to the peer's handle
  offset,        ///< `amount` is added to the peer's offset
  hold,          ///< later by `amount` ms; 0: never
  fail,          ///< an error of the provider for want of resources
  disconnect,    ///< the connection ends behind this; with `amount`: in the middle of an RDMA Write
  instead,       ///< the connection ends instead
  end,           ///< it ends as when the device goes, or the port, or a queue pair fails
  reject,        ///< the connection request is refused
  silent,        ///< or never answered
  private_data,  ///< `bytes` are said instead of the consumer's
  invalidate_none,     ///< a Send with Invalidate is a Send
  invalidate_wrong,    ///< it invalidates a handle of no lease
  invalidate_other,    ///< it invalidates the handle of an earlier call
  invalidate_unasked,  ///< a Send invalidates the handle that was used last
  bad_crc,             ///< the last byte of a frame is another one
  split,               ///< a frame goes out in pieces of `amount` bytes
  terminate,           ///< a Terminate message says `amount`, then nothing follows
  reset,               ///< the TCP connection is reset
  finish,              ///< nothing follows, and TCP says so
  revision,            ///< the MPA Reply is of this revision
  markers,             ///< it wants markers
};

struct FabricFault {
  At at = At::send;
  What what = What::drop;
  std::int64_t amount = 0;
  std::vector<std::byte> bytes = {};
};

/// Says what goes wrong with one event. Asked once for each, on the reactor's thread.
class FabricScript {
 public:
  virtual std::vector<FabricFault> decide(At at) = 0;

 protected:
  ~FabricScript() = default;
};

}  // namespace nfsrdma::faults
