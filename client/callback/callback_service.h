// The client as a server: answers CB_NULL and CB_COMPOUND (RFC 8881 section 20), which come in the
// backward direction of the connection (RFC 8167).
#pragma once

#include "client/callback/callback_slots.h"
#include "client/files/files.h"
#include "client/proto/compound.h"
#include "client/session/session_setup.h"
#include "transport/base/metrics.h"

namespace nfsrdma::client {

/// Every callback is answered at once; what follows from it is done later: a recalled delegation is
/// returned, CB_RECALL_SLOT shrinks the session's slot table, CB_NOTIFY_LOCK wakes the waiters for
/// a lock. There are no layouts to recall.
class CallbackService final : public rpc::BackwardCallHandler, public BackChannel {
 public:
  explicit CallbackService(Files& files)
      : session_(files.context.session),
        waiters_(files.lock_waiters),
        delegations_(files.delegations) {}

  void on_session(const nfs4::sessionid4& id, const nfs4::channel_attrs4& back) override;
  void on_backward_call(rpc::BackwardCall& call) override;

  void visit_counters(CounterVisitor& visitor) const;

 private:
  class ResultWriter;
  /// The beginning of a CB_COMPOUND: the result of CB_SEQUENCE, and the slot if the rest must run.
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
  nfs4::nfsstat4 recall(xdr::Decoder& in);
  nfs4::nfsstat4 recall_any(xdr::Decoder& in);
  nfs4::nfsstat4 getattr(xdr::Decoder& in, ResultWriter& out);

  Session& session_;
  LockWaiters& waiters_;
  Delegations& delegations_;
  CallbackSlots slots_;
  Counter calls_;
  Counter replays_;
  Counter refused_;
};

}  // namespace nfsrdma::client
