#include "tests/responder/nfs/callbacks.h"

#include "client/proto/compound.h"
#include "transport/base/log.h"

namespace nfsrdma::responder {

using namespace nfs4;

namespace {

void encode_recall(xdr::Encoder& out, const Session& session) {
  CB_COMPOUND4args_header header;
  header.operations = 2;
  encode_header(out, header);
  CB_SEQUENCE4args sequence;
  sequence.csa_sessionid = session.id;
  sequence.csa_sequenceid = session.back.sequence;
  encode_operation(out, sequence);
  CB_RECALL_SLOT4args recall;
  recall.rsa_target_highest_slotid = session.target_slots - 1;
  encode_operation(out, recall);
}

void finish_recall(Session& session, const Connection* used, const Result<xdr::Decoder>& results) {
  session.back.busy = false;
  if (!results) {
    --session.back.sequence;  // sent again with the same number
    if (session.back.connection == used) session.back.connection = nullptr;
    log::info("callback failed: {}", results.error().message());
    return;
  }
  xdr::Decoder in = *results;
  CB_COMPOUND4res_header header;
  decode(in, header);
  if (!in.ok() || header.status != NFS4_OK) {
    log::info("CB_RECALL_SLOT answered {}", status_name(header.status));
  }
}

}  // namespace

void recall_slots(Session& session) {
  BackChannel& back = session.back;
  if (!back.connection || back.busy) return;
  back.busy = true;
  ++back.sequence;
  const SessionRef self = session.shared_from_this();
  const Connection* used = back.connection;
  const auto called = back.connection->call_back(
      back.program, [self](xdr::Encoder& out) { encode_recall(out, *self); },
      [self, used](Result<xdr::Decoder> results) { finish_recall(*self, used, results); });
  if (!called) finish_recall(session, used, fail(called.error()));
}

}  // namespace nfsrdma::responder
