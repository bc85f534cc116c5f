#include "tests/responder/nfs/callbacks.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "tests/proto/operations.h"
#include "transport/base/log.h"

namespace nfsrdma::responder {

using namespace nfs4;

namespace {

void encode_callback(xdr::Encoder& out, const Session& session, const Callback& callback) {
  CB_COMPOUND4args_header header;
  header.operations = 2;
  encode_header(out, header);
  CB_SEQUENCE4args sequence;
  sequence.csa_sessionid = session.id;
  sequence.csa_sequenceid = session.back.sequence;
  encode_operation(out, sequence);
  callback.encode(out);
}

/// Behind CB_SEQUENCE's result; an error when that is not NFS4_OK.
Result<xdr::Decoder> result_of(const Result<xdr::Decoder>& results) {
  if (!results) return fail(results.error());
  xdr::Decoder in = *results;
  CB_COMPOUND4res_header header;
  decode(in, header);
  CB_SEQUENCE4res sequence;
  if (in.ok() && header.operations > 0) decode_result(in, sequence);
  if (in.ok() && header.operations > 1) return in;
  const nfsstat4 status = header.status == NFS4_OK ? NFS4ERR_BADXDR : header.status;
  return fail(Error{Layer::nfs, static_cast<int>(status), "CB_SEQUENCE", {}});
}

Error no_path() { return Error::local(ENOTCONN, "callback", "no path to the client"); }

void send_next(Session& session);

void finish(Session& session, const Connection* used, const Callback& callback,
            const Result<xdr::Decoder>& results) {
  BackChannel& back = session.back;
  back.busy = false;
  if (!results) {
    --back.sequence;  // sent again with the same number
    if (back.connection == used) back.connection = nullptr;
    log::info("callback failed: {}", results.error().message());
  }
  callback.done(result_of(results));
  send_next(session);
}

void send_next(Session& session) {
  BackChannel& back = session.back;
  if (back.busy || back.waiting.empty()) return;
  Callback callback = std::move(back.waiting.front());
  back.waiting.pop_front();
  if (!back.connection) {
    callback.done(fail(no_path()));
    return send_next(session);
  }
  back.busy = true;
  ++back.sequence;
  const SessionRef self = session.shared_from_this();
  const Connection* used = back.connection;
  const auto called = back.connection->call_back(
      back.target, [self, callback](xdr::Encoder& out) { encode_callback(out, *self, callback); },
      [self, used, callback](Result<xdr::Decoder> results) {
        finish(*self, used, callback, results);
      });
  if (!called) finish(session, used, callback, fail(called.error()));
}

void log_refusal(const Result<xdr::Decoder>& result) {
  if (!result) return log::info("CB_RECALL_SLOT: {}", result.error().message());
  xdr::Decoder in = *result;
  CB_RECALL_SLOT4res answer;
  decode_result(in, answer);
  if (!in.ok() || answer.rsr_status != NFS4_OK) {
    log::info("CB_RECALL_SLOT answered {}", status_name(answer.rsr_status));
  }
}

/// The client has taken a callback out of turn: the next one has the next number.
void note_sequence(Session& session, const Result<xdr::Decoder>& results) {
  if (!results) return;
  xdr::Decoder in = *results;
  CB_COMPOUND4res_header header;
  decode(in, header);
  CB_SEQUENCE4res sequence;
  if (in.ok() && header.operations > 0) decode_result(in, sequence);
  if (!in.ok() || sequence.csr_status != NFS4_OK) return;
  const auto& taken = sequence.csr_resok4;
  if (taken.csr_slotid != 0) return;
  session.back.sequence = std::max(session.back.sequence, taken.csr_sequenceid);
}

}  // namespace

void call_client(Session& session, Callback callback) {
  session.back.waiting.push_back(std::move(callback));
  send_next(session);
}

std::size_t send_hostile(Session& session, hostile::EncodeBack encode, std::uint32_t count,
                         std::size_t cut) {
  BackChannel& back = session.back;
  if (!back.connection) return 0;
  const SessionRef self = session.shared_from_this();
  CallbackTarget target = back.target;
  target.cut = cut;
  hostile::Back context{.session = session.id, .used = back.sequence};
  std::size_t sent = 0;
  for (; context.turn < count; ++context.turn) {
    const auto called = back.connection->call_back(
        target, [&](xdr::Encoder& out) { encode(out, context); },
        [self](const Result<xdr::Decoder>& results) { note_sequence(*self, results); });
    if (!called) break;
    ++sent;
  }
  return sent;
}

void recall_slots(Session& session) {
  CB_RECALL_SLOT4args recall;
  recall.rsa_target_highest_slotid = session.target_slots - 1;
  call_client(session, {[recall](xdr::Encoder& out) { encode_operation(out, recall); },
                        [](const Result<xdr::Decoder>& result) { log_refusal(result); }});
}

}  // namespace nfsrdma::responder
