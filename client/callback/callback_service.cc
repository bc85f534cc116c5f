#include "client/callback/callback_service.h"

#include <cstring>
#include <string_view>

#include "transport/base/log.h"

namespace nfsrdma::client {
namespace {

using namespace nfs4;

/// The RFC's text says 4, its XDR says 1, servers use 1 (F-24).
constexpr std::uint32_t kVersionOfXdr = 1;
constexpr std::uint32_t kVersionOfText = 4;

std::uint64_t fingerprint_of(xdr::Decoder in) {
  const auto bytes = in.raw(in.remaining(), "CB_COMPOUND");
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return std::hash<std::string_view>{}(text);
}

}  // namespace

/// Writes a CB_COMPOUND4res whose status and count become known last.
class CallbackService::ResultWriter {
 public:
  ResultWriter(xdr::Encoder& out, std::string_view tag)
      : out_(out),
        start_(out.size()),
        count_at_(encode_header(out, CB_COMPOUND4res_header{NFS4_OK, tag, 0})) {}

  /// A result that is its status alone, as every failed one is.
  nfsstat4 add(std::uint32_t opnum, nfsstat4 status) {
    ++results_;
    out_.u32(opnum);
    out_.u32(status);
    return status;
  }
  void add(const CB_SEQUENCE4res& result) {
    ++results_;
    encode_operation(out_, result);
  }
  /// Of CB_GETATTR: those that are wanted and present.
  nfsstat4 add(const bitmap4& wanted, const Attributes& attributes) {
    add(OP_CB_GETATTR, NFS4_OK);
    encode_attributes(out_, wanted & attributes.present, attributes);
    return NFS4_OK;
  }
  rpc::AcceptStat end(nfsstat4 status) {
    out_.patch(start_, status);
    out_.patch(count_at_, results_);
    return outcome();
  }
  rpc::AcceptStat replace(std::span<const std::byte> bytes) {
    out_.rewind(start_);
    if (auto* place = out_.reserve(bytes.size())) {
      std::memcpy(place, bytes.data(), bytes.size());
    }
    return outcome();
  }
  std::span<const std::byte> bytes() const { return out_.encoded().subspan(start_); }

 private:
  rpc::AcceptStat outcome() const {
    return out_.ok() ? rpc::AcceptStat::success : rpc::AcceptStat::system_err;
  }

  xdr::Encoder& out_;
  const std::size_t start_;  // where the status is
  const std::size_t count_at_;
  std::uint32_t results_ = 0;
};

void CallbackService::on_session(const sessionid4& id, const channel_attrs4& back) {
  slots_.reset(id, back);
}

void CallbackService::on_backward_call(rpc::BackwardCall& call) {
  calls_.add();
  const rpc::AcceptStat status = dispatch(call);
  if (status != rpc::AcceptStat::success) refused_.add();
  call.answer(status);
}

rpc::AcceptStat CallbackService::dispatch(rpc::BackwardCall& call) {
  const rpc::CallHeader& header = call.header();
  if (header.program != SessionSetup::kCallbackProgram) return rpc::AcceptStat::prog_unavail;
  if (header.version != kVersionOfXdr && header.version != kVersionOfText) {
    return rpc::AcceptStat::prog_mismatch;
  }
  switch (header.procedure) {
    case kProcCbNull: return rpc::AcceptStat::success;
    case kProcCbCompound: return compound(call.arguments(), call.results());
    default: return rpc::AcceptStat::proc_unavail;
  }
}

rpc::AcceptStat CallbackService::compound(xdr::Decoder& in, xdr::Encoder& out) {
  const std::uint64_t fingerprint = fingerprint_of(in);
  CB_COMPOUND4args_header header;
  decode(in, header);
  if (!in.ok()) return rpc::AcceptStat::garbage_args;
  ResultWriter results(out, header.tag);
  if (header.minorversion != kNfsMinorVersion1) return results.end(NFS4ERR_MINOR_VERS_MISMATCH);
  if (header.operations == 0) return results.end(NFS4_OK);

  const Opening opening = sequence(in, results, header.operations, fingerprint);
  if (opening.kind == CallbackSlots::Kind::replay) {
    replays_.add();
    return results.replace(slots_.cached(opening.slot));
  }
  if (opening.kind == CallbackSlots::Kind::refused) return results.end(opening.status);
  nfsstat4 status = NFS4_OK;
  for (std::uint32_t i = 1; i < header.operations && status == NFS4_OK; ++i) {
    status = evaluate(in, results);
  }
  const rpc::AcceptStat accepted = results.end(status);
  if (accepted == rpc::AcceptStat::success) slots_.finish(opening.slot, results.bytes());
  return accepted;
}

CallbackService::Opening CallbackService::sequence(xdr::Decoder& in, ResultWriter& out,
                                                   std::uint32_t operations,
                                                   std::uint64_t fingerprint) {
  const std::uint32_t opnum = in.u32("CB argop");
  if (opnum != OP_CB_SEQUENCE) {
    const bool known = is_defined(static_cast<nfs_cb_opnum4>(opnum)) && opnum != OP_CB_ILLEGAL;
    return {known ? out.add(opnum, NFS4ERR_OP_NOT_IN_SESSION)
                  : out.add(OP_CB_ILLEGAL, NFS4ERR_OP_ILLEGAL)};
  }
  CB_SEQUENCE4args args;
  decode(in, args);
  if (!in.ok()) return {out.add(opnum, NFS4ERR_BADXDR)};
  if (operations > slots_.max_operations()) return {out.add(opnum, NFS4ERR_TOO_MANY_OPS)};
  const auto judged = slots_.judge(args, fingerprint);
  if (judged.kind == CallbackSlots::Kind::refused) return {out.add(opnum, judged.status)};
  CB_SEQUENCE4res result;
  const slotid4 highest = slots_.count() - 1;
  result.csr_resok4 = {args.csa_sessionid, args.csa_sequenceid, args.csa_slotid, highest, highest};
  out.add(result);
  return {NFS4_OK, judged.kind, args.csa_slotid};
}

// A failed operation ends the request, so the arguments of an operation that is not known need not
// be decoded.
nfsstat4 CallbackService::evaluate(xdr::Decoder& in, ResultWriter& out) {
  const std::uint32_t opnum = in.u32("CB argop");
  if (!in.ok()) return out.add(OP_CB_ILLEGAL, NFS4ERR_BADXDR);
  switch (static_cast<nfs_cb_opnum4>(opnum)) {
    case OP_CB_SEQUENCE: return out.add(opnum, NFS4ERR_SEQUENCE_POS);
    case OP_CB_RECALL: return out.add(opnum, recall(in));
    case OP_CB_GETATTR: return getattr(in, out);
    case OP_CB_RECALL_ANY: return out.add(opnum, recall_any(in));
    case OP_CB_NOTIFY_LOCK: return out.add(opnum, notify_lock(in));
    case OP_CB_RECALL_SLOT: return out.add(opnum, recall_slot(in));
    case OP_CB_LAYOUTRECALL: return out.add(opnum, NFS4ERR_NOMATCHING_LAYOUT);
    case OP_CB_NOTIFY:
    case OP_CB_PUSH_DELEG:
    case OP_CB_RECALLABLE_OBJ_AVAIL:
    case OP_CB_WANTS_CANCELLED:
    case OP_CB_NOTIFY_DEVICEID: return out.add(opnum, NFS4ERR_NOTSUPP);
    case OP_CB_ILLEGAL: break;
  }
  return out.add(OP_CB_ILLEGAL, NFS4ERR_OP_ILLEGAL);
}

nfsstat4 CallbackService::recall_slot(xdr::Decoder& in) {
  CB_RECALL_SLOT4args args;
  decode(in, args);
  if (!in.ok()) return NFS4ERR_BADXDR;
  log::debug("the server recalls slots above {}", args.rsa_target_highest_slotid);
  session_.slots().set_target(args.rsa_target_highest_slotid);
  return NFS4_OK;
}

nfsstat4 CallbackService::recall(xdr::Decoder& in) {
  CB_RECALL4args args;
  decode(in, args);
  return in.ok() ? delegations_.recall(args) : NFS4ERR_BADXDR;
}

nfsstat4 CallbackService::recall_any(xdr::Decoder& in) {
  CB_RECALL_ANY4args args;
  decode(in, args);
  return in.ok() ? delegations_.recall_any(args) : NFS4ERR_BADXDR;
}

nfsstat4 CallbackService::getattr(xdr::Decoder& in, ResultWriter& out) {
  CB_GETATTR4args args;
  decode(in, args);
  if (!in.ok()) return out.add(OP_CB_GETATTR, NFS4ERR_BADXDR);
  const auto attributes = delegations_.attributes_of(args.fh);
  if (!attributes) return out.add(OP_CB_GETATTR, NFS4ERR_BADHANDLE);
  return out.add(args.attr_request, *attributes);
}

/// A hint: waiters ask the server again.
nfsstat4 CallbackService::notify_lock(xdr::Decoder& in) {
  CB_NOTIFY_LOCK4args args;
  decode(in, args);
  if (!in.ok()) return NFS4ERR_BADXDR;
  waiters_.notify(args.cnla_fh);
  return NFS4_OK;
}

void CallbackService::visit_counters(CounterVisitor& visitor) const {
  visitor.visit("callbacks", calls_.value());
  visitor.visit("callback_replays", replays_.value());
  visitor.visit("callbacks_refused", refused_.value());
}

}  // namespace nfsrdma::client
