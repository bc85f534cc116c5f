// The client as a server: answers CB_NULL and CB_COMPOUND (RFC 8881 section 20), which come in the
// backward direction of the connection (RFC 8167).
#pragma once

#include "client/callback/callback_slots.h"
#include "client/proto/compound.h"
#include "client/session/establisher.h"
#include "client/state/lock_waiters.h"
#include "transport/base/metrics.h"

namespace nfsrdma::client {

/// Every callback is answered at once. There are no delegations and no layouts to be recalled, so
/// most answers say just that; CB_RECALL_SLOT shrinks the session's slot table, CB_NOTIFY_LOCK
/// wakes who waits for a lock.
class CallbackService final : public CallbackHandler {
 public:
  CallbackService(Session& session, LockWaiters& waiters) : session_(session), waiters_(waiters) {}

  void on_session(const nfs4::sessionid4& id, const nfs4::channel_attrs4& back) override;
  void on_backward_call(rpc::BackwardCall& call) override;

  void visit_counters(CounterVisitor& visitor) const;

 private:
  class ResultWriter;
  /// How a CB_COMPOUND starts: what CB_SEQUENCE answered, and the slot when it is to be executed.
  struct Opening {
    nfs4::nfsstat4 status = nfs4::NFS4_OK;
    CallbackSlots::Kind kind = CallbackSlots::Kind::refused;
    nfs4::slotid4 slot = 0;
  };

  rpc::AcceptStat dispatch(rpc::BackwardCall& call);
  rpc::AcceptStat compound(xdr::Decoder& in, xdr::Encoder& out);
  Opening sequence(xdr::Decoder& in, ResultWriter& out, std::uint32_t operations,
                   std::uint64_t fingerprint);
  nfs4::nfsstat4 evaluate(xdr::Decoder& in, ResultWriter& out);
  nfs4::nfsstat4 recall_slot(xdr::Decoder& in);
  nfs4::nfsstat4 notify_lock(xdr::Decoder& in);

  Session& session_;
  LockWaiters& waiters_;
  CallbackSlots slots_;
  Counter calls_;
  Counter replays_;
  Counter refused_;
};

}  // namespace nfsrdma::client
