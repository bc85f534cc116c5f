#include "tests/responder/nfs/compound.h"

#include "tests/proto/operations.h"
#include "tests/responder/nfs/compound_context.h"
#include "tests/responder/nfs/operation_table.h"
#include "tests/responder/nfs/session/sequence.h"
#include "transport/base/log.h"

namespace nfsrdma::responder {

using namespace nfs4;

namespace {

/// No result of an operation that changes anything is longer, but for a denied LOCK's, which has
/// changed nothing. So a reply that is too big is noticed before and not after a change.
constexpr std::size_t kMaxChangingResult = 256;

/// State of another client may be in the way.
bool is_conflict(nfsstat4 status) {
  return status == NFS4ERR_DENIED || status == NFS4ERR_SHARE_DENIED || status == NFS4ERR_LOCKED ||
         status == NFS4ERR_DELAY;
}

/// One COMPOUND being executed.
class Execution {
 public:
  Execution(ServerState& server, ServerCall& call) : context_(server, call) {}
  CompoundOutcome run();

 private:
  nfsstat4 run_operations();
  nfsstat4 run_next();
  nfsstat4 run_sequence();
  nfsstat4 run_listed(std::uint32_t opnum, const OperationRow& row);
  nfsstat4 check_place(std::uint32_t opnum, const OperationRow& row) const;
  nfsstat4 check_operands(const OperationRow& row) const;
  nfsstat4 forced_status(std::uint32_t opnum) const;
  nfsstat4 too_big() const;
  bool in_removed_directory();
  bool expire_clients();
  bool has_room(std::size_t bytes);
  nfsstat4 refuse_operation(std::uint32_t opnum, nfsstat4 status);
  void replay();
  void replay_uncached(const SEQUENCE4res& result);
  void finish_slot();

  CompoundContext context_;
  std::size_t start_ = 0;          // of the results in the reply
  std::size_t operations_at_ = 0;  // of the count of results
  std::uint64_t fingerprint_ = 0;
  bool replayed_ = false;
  std::string_view tag_;
  CompoundOutcome outcome_;
};

CompoundOutcome Execution::run() {
  start_ = context_.out.size();
  fingerprint_ = fingerprint_of(context_.in);
  COMPOUND4args_header header;
  decode(context_.in, header);
  if (!context_.in.ok() || header.operations > kMaxOperations) {
    outcome_.accept = rpc::AcceptStat::garbage_args;
    return outcome_;
  }
  tag_ = header.tag;
  context_.operations = header.operations;
  operations_at_ = encode_header(context_.out, COMPOUND4res_header{NFS4_OK, tag_, 0});
  const nfsstat4 status =
      header.minorversion == kNfsMinorVersion1 ? run_operations() : NFS4ERR_MINOR_VERS_MISMATCH;
  if (!replayed_) context_.out.patch(start_, status);
  if (!context_.out.ok()) outcome_.accept = rpc::AcceptStat::system_err;
  finish_slot();
  return outcome_;
}

nfsstat4 Execution::run_operations() {
  nfsstat4 status = NFS4_OK;
  for (context_.index = 0; context_.index < context_.operations; ++context_.index) {
    status = run_next();
    if (replayed_) return status;
    context_.out.patch(operations_at_, context_.index + 1);
    if (status != NFS4_OK) break;
  }
  return status;
}

nfsstat4 Execution::run_next() {
  const std::uint32_t opnum = context_.in.u32("argop");
  if (!context_.in.ok()) return refuse_operation(OP_ILLEGAL, NFS4ERR_BADXDR);
  if (!is_defined(static_cast<nfs_opnum4>(opnum)) || opnum == OP_ILLEGAL) {
    return refuse_operation(OP_ILLEGAL, NFS4ERR_OP_ILLEGAL);
  }
  const OperationRow& row = operation_row(opnum);
  const FaultHooks::Verdict verdict = context_.server.faults.next(static_cast<nfs_opnum4>(opnum));
  outcome_.delay += verdict.delay;
  nfsstat4 status = check_place(opnum, row);
  // EXCHANGE_ID and CREATE_SESSION may have ended the client that this request belongs to.
  if (context_.session && !context_.session->client) status = NFS4ERR_DEADSESSION;
  if (status == NFS4_OK) status = verdict.status;
  if (status == NFS4_OK) status = forced_status(opnum);
  if (status == NFS4_OK && opnum == OP_SEQUENCE) return run_sequence();
  if (status == NFS4_OK && !row.execute) status = NFS4ERR_NOTSUPP;
  if (status == NFS4_OK) status = check_operands(row);
  if (status != NFS4_OK) return refuse_operation(opnum, status);
  return run_listed(opnum, row);
}

// RFC 8881 section 2.10.6.1.2: what may come first, alone, or only behind SEQUENCE.
nfsstat4 Execution::check_place(std::uint32_t opnum, const OperationRow& row) const {
  const bool first = context_.index == 0;
  if (opnum == OP_SEQUENCE) return first ? NFS4_OK : NFS4ERR_SEQUENCE_POS;
  if (opnum == OP_BIND_CONN_TO_SESSION && context_.operations > 1) return NFS4ERR_NOT_ONLY_OP;
  if (!first) return NFS4_OK;
  if ((row.traits & kSessionless) == 0) return NFS4ERR_OP_NOT_IN_SESSION;
  return context_.operations == 1 ? NFS4_OK : NFS4ERR_NOT_ONLY_OP;
}

nfsstat4 Execution::check_operands(const OperationRow& row) const {
  if ((row.traits & kNeedsCurrent) != 0 && !context_.current) return NFS4ERR_NOFILEHANDLE;
  if ((row.traits & kNeedsSaved) != 0 && !context_.saved) return NFS4ERR_NOFILEHANDLE;
  if ((row.traits & kModifies) != 0 && context_.server.config.read_only) return NFS4ERR_ROFS;
  return NFS4_OK;
}

nfsstat4 Execution::forced_status(std::uint32_t opnum) const {
  const auto forced = context_.call.forced_status(opnum);
  return forced ? static_cast<nfsstat4>(*forced) : NFS4_OK;
}

nfsstat4 Execution::run_listed(std::uint32_t opnum, const OperationRow& row) {
  if ((row.traits & kChangesState) != 0 && !has_room(kMaxChangingResult)) {
    return refuse_operation(opnum, too_big());
  }
  const std::size_t before = context_.out.size();
  const xdr::Decoder arguments = context_.in;
  context_.out.u32(opnum);
  nfsstat4 status = row.execute(context_);
  if (is_conflict(status) && expire_clients()) {
    context_.in = arguments;
    context_.out.rewind(before);
    context_.out.u32(opnum);
    status = row.execute(context_);
  }
  const bool gone = status == NFS4ERR_NOENT && in_removed_directory();
  const bool fits = context_.out.ok() && context_.reply_size() <= context_.reply_limit();
  if (fits && !gone) return status;
  context_.out.rewind(before);
  return refuse_operation(opnum, gone ? NFS4ERR_STALE : too_big());
}

/// Clients whose lease has run out are in nobody's way (RFC 8881 section 8.3). False: there is
/// none.
bool Execution::expire_clients() {
  ServerState& server = context_.server;
  return server.clients->clients.expire(server.reactor.now()) > 0;
}

/// The system has names of a removed directory missing as long as somebody has a descriptor of it;
/// its handle leads to nothing (RFC 8881 section 15.1.2.9).
bool Execution::in_removed_directory() {
  const auto removed = [this](const FileRef& file) {
    if (!file || !file->is_directory()) return false;
    const auto stat = context_.files().stat(file);
    return !stat && stat.error() == NFS4ERR_STALE;
  };
  return removed(context_.current) || removed(context_.saved);
}

nfsstat4 Execution::too_big() const {
  return context_.cache_this ? NFS4ERR_REP_TOO_BIG_TO_CACHE : NFS4ERR_REP_TOO_BIG;
}

bool Execution::has_room(std::size_t bytes) {
  if (context_.room() < bytes) return false;
  const std::size_t before = context_.out.size();
  const bool fits = context_.out.reserve(bytes) != nullptr;
  context_.out.rewind(before);
  return fits;
}

nfsstat4 Execution::refuse_operation(std::uint32_t opnum, nfsstat4 status) {
  context_.out.u32(opnum);
  operation_row(opnum).encode_refusal(context_.out, status);
  log::debug("{} refused: {}", operation_name(static_cast<nfs_opnum4>(opnum)), status_name(status));
  return status;
}

nfsstat4 Execution::run_sequence() {
  SEQUENCE4args args;
  decode(context_.in, args);
  if (!context_.in.ok()) return refuse_operation(OP_SEQUENCE, NFS4ERR_BADXDR);
  context_.behind_sequence = context_.in;
  SEQUENCE4res result;
  switch (admit(context_, args, fingerprint_, result)) {
    case Admission::execute: outcome_.session = context_.session; break;
    case Admission::refused: break;
    case Admission::uncached: replay_uncached(result); return NFS4ERR_RETRY_UNCACHED_REP;
    case Admission::replay:
      replayed_ = true;
      context_.out.rewind(start_);
      replay();
      return NFS4_OK;
  }
  encode_operation(context_.out, result);
  return result.sr_status;
}

void Execution::replay() {
  const CachedReply& reply = context_.session->slots[context_.slot].reply;
  const auto scratch = [this](std::size_t size) { return context_.call.scratch(size); };
  if (!reply.replay(context_.out, scratch)) outcome_.accept = rpc::AcceptStat::system_err;
}

// RFC 8881 section 2.10.6.1.3: the results of SEQUENCE, and the error for the operation behind it.
void Execution::replay_uncached(const SEQUENCE4res& result) {
  replayed_ = true;
  const std::uint32_t second = context_.in.u32("argop");
  encode_operation(context_.out, result);
  refuse_operation(context_.in.ok() ? second : OP_ILLEGAL, NFS4ERR_RETRY_UNCACHED_REP);
  context_.out.patch(start_, NFS4ERR_RETRY_UNCACHED_REP);
  context_.out.patch(operations_at_, 2);
}

void Execution::finish_slot() {
  if (!outcome_.session) return;
  outcome_.slot = context_.slot;
  Slot& slot = outcome_.session->slots[context_.slot];
  const bool alone = context_.operations == 1;
  const ReplyCache wanted = context_.call.service_faults().reply_cache;
  if (wanted == ReplyCache::lost || !context_.out.ok() || !(context_.cache_this || alone)) return;
  slot.reply.store(context_.out, start_);
  if (wanted == ReplyCache::garbage) slot.reply.spoil();
}

}  // namespace

CompoundOutcome execute_compound(ServerState& server, ServerCall& call) {
  Execution execution(server, call);
  return execution.run();
}

}  // namespace nfsrdma::responder
