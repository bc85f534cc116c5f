#include "tests/responder/nfs/session/sequence.h"

#include <algorithm>

#include "tests/responder/nfs/fs/siphash.h"

namespace nfsrdma::responder {

using namespace nfs4;

namespace {

// SEQUENCE, file handles, names and stateids all lie within this many bytes.
constexpr std::size_t kFingerprinted = 512;

// RFC 8881 section 2.10.6.4: a request that is too large is refused before it takes the slot. At
// least SEQUENCE's own result must fit the reply.
nfsstat4 check_sizes(const CompoundContext& context, const SEQUENCE4args& args,
                     const channel_attrs4& limits) {
  constexpr std::size_t kSequenceResult = 2 * xdr::kUnit + sizeof(sessionid4) + 5 * xdr::kUnit;
  // Without what came in Read chunks, which is bounded by itself.
  const std::size_t request = context.in.offset() + context.in.remaining();
  if (request > limits.ca_maxrequestsize) return NFS4ERR_REQ_TOO_BIG;
  const std::size_t least = context.reply_size() + kSequenceResult;
  if (least > limits.ca_maxresponsesize) return NFS4ERR_REP_TOO_BIG;
  const bool cacheable = least <= limits.ca_maxresponsesize_cached;
  return args.sa_cachethis && !cacheable ? NFS4ERR_REP_TOO_BIG_TO_CACHE : NFS4_OK;
}

std::uint32_t status_flags(const Session& session) {
  std::uint32_t flags = 0;
  if (session.client->revoked_delegations > 0) flags |= SEQ4_STATUS_RECALLABLE_STATE_REVOKED;
  if (session.client->revoked_locks > 0) flags |= SEQ4_STATUS_ADMIN_STATE_REVOKED;
  if (session.back.wanted && !session.back.connection) {
    flags |= SEQ4_STATUS_CB_PATH_DOWN | SEQ4_STATUS_CB_PATH_DOWN_SESSION;
  }
  return flags;
}

Admission refuse_sequence(SEQUENCE4res& result, nfsstat4 status) {
  result.sr_status = status;
  return Admission::refused;
}

Admission admit_retry(CompoundContext& context, const Slot& slot, SEQUENCE4res& result) {
  context.client->lease_ends = context.server.lease_end();
  result.sr_resok4 = slot.result;
  return slot.reply.empty() ? Admission::uncached : Admission::replay;
}

}  // namespace

std::uint64_t fingerprint_of(const xdr::Decoder& arguments, std::uint64_t salt) {
  xdr::Decoder copy = arguments;
  const std::size_t length = std::min(copy.remaining(), kFingerprinted);
  return siphash({salt}, copy.raw(length, "request"));
}

Admission admit(CompoundContext& context, const SEQUENCE4args& args, std::uint64_t fingerprint,
                SEQUENCE4res& result) {
  SessionRef session = context.server.clients->sessions.find(args.sa_sessionid);
  if (!session) return refuse_sequence(result, NFS4ERR_BADSESSION);
  const auto found = session->slot_for(args);
  if (!found) return refuse_sequence(result, found.error());
  if (context.operations > session->attributes.ca_maxoperations) {
    return refuse_sequence(result, NFS4ERR_TOO_MANY_OPS);
  }
  context.client = session->client;
  Slot& slot = **found;
  const auto order = slot.check(args.sa_sequenceid, fingerprint);
  if (!order) return refuse_sequence(result, order.error());
  if (*order == Order::retry) {
    const Admission admission = admit_retry(context, slot, result);
    if (admission == Admission::replay) {
      context.session = std::move(session);
      context.slot = args.sa_slotid;
    }
    return admission;
  }
  const nfsstat4 too_big = check_sizes(context, args, session->attributes);
  if (too_big != NFS4_OK) return refuse_sequence(result, too_big);
  context.call.connection().serves_session = true;
  session->begin(slot, args, fingerprint);
  context.client->lease_ends = context.server.lease_end();
  ++context.client->requests_open;
  slot.result = {args.sa_sessionid,
                 args.sa_sequenceid,
                 args.sa_slotid,
                 static_cast<slotid4>(session->slots.size() - 1),
                 session->target_slots - 1,
                 status_flags(*session)};
  result.sr_resok4 = slot.result;
  context.session = std::move(session);
  context.slot = args.sa_slotid;
  context.cache_this = args.sa_cachethis;
  return Admission::execute;
}

}  // namespace nfsrdma::responder
