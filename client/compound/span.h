// Where the time of one NFS request went.
#pragma once

#include <cstdint>
#include <string>

#include "client/proto/opnum.h"
#include "client/proto/types.h"
#include "transport/base/error.h"
#include "transport/base/origin.h"
#include "transport/base/reactor.h"
#include "transport/rpc/call.h"

namespace nfsrdma::client {

/// From the moment a request is given to the session until its operation goes on. Stages that are
/// repeated (another connection, NFS4ERR_DELAY) are those of the last time. Zero: not reached.
struct Span {
  static constexpr nfs4::slotid4 kNoSlot = UINT32_MAX;

  Origin origin = kNoOrigin;  ///< the kernel's request that it is for; kNoOrigin: for none
  std::uint32_t xid = 0;
  nfs4::slotid4 slot = kNoSlot;
  nfs4::nfs_opnum4 operation = nfs4::OP_ILLEGAL;  ///< the one that it is about: main_operation()
  std::uint32_t sends = 0;                        ///< submissions to a connection
  std::uint32_t delays = 0;                       ///< times that the server asked for patience

  TimePoint begun{0};       ///< given to the session
  TimePoint slot_taken{0};  ///< had a session slot
  rpc::CallTimes call;
  TimePoint ended{0};  ///< of Trace::end()

  Layer layer = Layer::nfs;  ///< whose `code` it is
  int code = 0;              ///< of nfs: the COMPOUND's status; else an error's
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;

  /// Until it was sent for the last time, and from then to its reply; zero where that was not
  /// reached.
  Duration queued() const { return call.sent == TimePoint{0} ? Duration{0} : call.sent - begun; }
  Duration at_server() const {
    return call.replied == TimePoint{0} ? Duration{0} : call.replied - call.sent;
  }
  bool failed() const { return layer != Layer::nfs || code != nfs4::NFS4_OK; }
};

/// "READ xid 0x1f slot 3 for request 12: slot 0 us, queue 1 us, server 85 us, all 90 us; 160 bytes
/// sent, 4200 received; NFS4_OK"
std::string to_text(const Span& span);
/// "NFS4_OK", "NFS4ERR_IO"; without an answer the layer that failed: "fabric".
std::string outcome_of(Layer layer, int code);

}  // namespace nfsrdma::client
