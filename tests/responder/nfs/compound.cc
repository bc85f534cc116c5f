#include "tests/responder/nfs/compound.h"

#include <array>

#include "client/proto/compound.h"
#include "tests/responder/nfs/compound_context.h"
#include "tests/responder/nfs/ops/ops.h"
#include "tests/responder/nfs/session/sequence.h"
#include "transport/base/log.h"

namespace nfsrdma::responder {

using namespace nfs4;

namespace {

/// How one operation is executed, and how its result looks when it is refused without that.
struct Row {
  nfsstat4 (*execute)(CompoundContext&) = nullptr;
  void (*encode_refusal)(xdr::Encoder&, nfsstat4) = nullptr;
  unsigned traits = 0;
};

constexpr unsigned kNeedsCurrent = 1;
constexpr unsigned kNeedsSaved = 2;
constexpr unsigned kChangesState = 4;
/// Changes the file system, so that a read-only export refuses it.
constexpr unsigned kModifies = 8 | kChangesState;
/// May be the only operation of a COMPOUND without SEQUENCE.
constexpr unsigned kSessionless = 16;

/// No result of an operation that changes anything is longer, but for a denied LOCK's, which has
/// changed nothing. So a reply that is too big is noticed before and not after a change.
constexpr std::size_t kMaxChangingResult = 256;

template <class Args, class Res, nfsstat4 (*Run)(CompoundContext&, const Args&, Res&)>
nfsstat4 execute(CompoundContext& context) {
  Args args;
  decode(context.in, args);
  Res result;
  const nfsstat4 status = context.in.ok() ? Run(context, args, result) : NFS4ERR_BADXDR;
  status_of(result) = status;
  encode(context.out, result);
  return status;
}

template <class Args, nfsstat4 (*Run)(CompoundContext&, const Args&)>
nfsstat4 execute_encoding(CompoundContext& context) {
  Args args;
  decode(context.in, args);
  const std::size_t status_at = context.out.placeholder();
  const std::size_t body_at = context.out.size();
  const nfsstat4 status = context.in.ok() ? Run(context, args) : NFS4ERR_BADXDR;
  if (status != NFS4_OK) context.out.rewind(body_at);
  context.out.patch(status_at, status);
  return status;
}

template <class Res>
void encode_refusal(xdr::Encoder& out, nfsstat4 status) {
  Res result;
  status_of(result) = status;
  encode(out, result);
}

template <class Args, class Res, nfsstat4 (*Run)(CompoundContext&, const Args&, Res&)>
constexpr Row row(unsigned traits = 0) {
  return {&execute<Args, Res, Run>, &encode_refusal<Res>, traits};
}
template <class Args, class Res, nfsstat4 (*Run)(CompoundContext&, const Args&)>
constexpr Row encoding_row(unsigned traits = 0) {
  return {&execute_encoding<Args, Run>, &encode_refusal<Res>, traits};
}

constexpr std::size_t kOperationNumbers = OP_RECLAIM_COMPLETE + 1;
using Table = std::array<Row, kOperationNumbers>;

#define NFSRDMA_ROW(NAME, function, ...) \
  table[OP_##NAME] = row<NAME##4args, NAME##4res, function>(__VA_ARGS__)

constexpr Table make_table() {
  Table table{};
  NFSRDMA_ROW(EXCHANGE_ID, op_exchange_id, kSessionless);
  NFSRDMA_ROW(CREATE_SESSION, op_create_session, kSessionless);
  NFSRDMA_ROW(DESTROY_SESSION, op_destroy_session, kSessionless);
  NFSRDMA_ROW(DESTROY_CLIENTID, op_destroy_clientid, kSessionless);
  NFSRDMA_ROW(BIND_CONN_TO_SESSION, op_bind_conn_to_session, kSessionless);
  NFSRDMA_ROW(BACKCHANNEL_CTL, op_backchannel_ctl);
  NFSRDMA_ROW(RECLAIM_COMPLETE, op_reclaim_complete);
  NFSRDMA_ROW(PUTROOTFH, op_putrootfh);
  NFSRDMA_ROW(PUTPUBFH, op_putpubfh);
  NFSRDMA_ROW(PUTFH, op_putfh);
  NFSRDMA_ROW(GETFH, op_getfh, kNeedsCurrent);
  NFSRDMA_ROW(SAVEFH, op_savefh, kNeedsCurrent);
  NFSRDMA_ROW(RESTOREFH, op_restorefh);
  NFSRDMA_ROW(LOOKUP, op_lookup, kNeedsCurrent);
  NFSRDMA_ROW(LOOKUPP, op_lookupp, kNeedsCurrent);
  NFSRDMA_ROW(CREATE, op_create, kNeedsCurrent | kModifies);
  NFSRDMA_ROW(REMOVE, op_remove, kNeedsCurrent | kModifies);
  NFSRDMA_ROW(RENAME, op_rename, kNeedsCurrent | kNeedsSaved | kModifies);
  NFSRDMA_ROW(LINK, op_link, kNeedsCurrent | kNeedsSaved | kModifies);
  NFSRDMA_ROW(READLINK, op_readlink, kNeedsCurrent);
  NFSRDMA_ROW(SECINFO, op_secinfo, kNeedsCurrent);
  NFSRDMA_ROW(SECINFO_NO_NAME, op_secinfo_no_name, kNeedsCurrent);
  NFSRDMA_ROW(ACCESS, op_access, kNeedsCurrent);
  NFSRDMA_ROW(SETATTR, op_setattr, kNeedsCurrent | kModifies);
  NFSRDMA_ROW(VERIFY, op_verify, kNeedsCurrent);
  NFSRDMA_ROW(NVERIFY, op_nverify, kNeedsCurrent);
  NFSRDMA_ROW(OPEN, op_open, kNeedsCurrent | kChangesState);
  NFSRDMA_ROW(CLOSE, op_close, kNeedsCurrent | kChangesState);
  NFSRDMA_ROW(OPEN_DOWNGRADE, op_open_downgrade, kNeedsCurrent | kChangesState);
  NFSRDMA_ROW(READ, op_read, kNeedsCurrent);
  NFSRDMA_ROW(WRITE, op_write, kNeedsCurrent | kModifies);
  NFSRDMA_ROW(COMMIT, op_commit, kNeedsCurrent);
  NFSRDMA_ROW(LOCK, op_lock, kNeedsCurrent | kChangesState);
  NFSRDMA_ROW(LOCKT, op_lockt, kNeedsCurrent);
  NFSRDMA_ROW(LOCKU, op_locku, kNeedsCurrent | kChangesState);
  NFSRDMA_ROW(TEST_STATEID, op_test_stateid);
  NFSRDMA_ROW(FREE_STATEID, op_free_stateid, kChangesState);
  table[OP_GETATTR] = encoding_row<GETATTR4args, GETATTR4res, op_getattr>(kNeedsCurrent);
  table[OP_READDIR] = encoding_row<READDIR4args, READDIR4res, op_readdir>(kNeedsCurrent);
  return table;
}
#undef NFSRDMA_ROW

constexpr Table kTable = make_table();

struct UnsupportedRes {
  nfsstat4 status = NFS4_OK;
  static void fields(auto& self, auto& visit) { visit("status", self.status); }
};
constexpr Row kUnsupported{nullptr, &encode_refusal<UnsupportedRes>, 0};

const Row& row_of(std::uint32_t opnum) {
  if (opnum == OP_SEQUENCE) {
    static constexpr Row kSequence{nullptr, &encode_refusal<SEQUENCE4res>, 0};
    return kSequence;
  }
  const bool listed = opnum < kTable.size() && kTable[opnum].execute;
  return listed ? kTable[opnum] : kUnsupported;
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
  nfsstat4 run_listed(std::uint32_t opnum, const Row& row);
  nfsstat4 check_place(std::uint32_t opnum, const Row& row) const;
  nfsstat4 check_operands(const Row& row) const;
  nfsstat4 forced_status(std::uint32_t opnum) const;
  nfsstat4 too_big() const;
  bool has_room(std::size_t octets);
  nfsstat4 refuse_operation(std::uint32_t opnum, nfsstat4 status);
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
  const Row& row = row_of(opnum);
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
nfsstat4 Execution::check_place(std::uint32_t opnum, const Row& row) const {
  const bool first = context_.index == 0;
  if (opnum == OP_SEQUENCE) return first ? NFS4_OK : NFS4ERR_SEQUENCE_POS;
  if (opnum == OP_BIND_CONN_TO_SESSION && context_.operations > 1) return NFS4ERR_NOT_ONLY_OP;
  if (!first) return NFS4_OK;
  if ((row.traits & kSessionless) == 0) return NFS4ERR_OP_NOT_IN_SESSION;
  return context_.operations == 1 ? NFS4_OK : NFS4ERR_NOT_ONLY_OP;
}

nfsstat4 Execution::check_operands(const Row& row) const {
  if ((row.traits & kNeedsCurrent) != 0 && !context_.current) return NFS4ERR_NOFILEHANDLE;
  if ((row.traits & kNeedsSaved) != 0 && !context_.saved) return NFS4ERR_NOFILEHANDLE;
  const bool modifies = (row.traits & kModifies) == kModifies;
  if (modifies && context_.server.config.read_only) return NFS4ERR_ROFS;
  return NFS4_OK;
}

nfsstat4 Execution::forced_status(std::uint32_t opnum) const {
  const auto forced = context_.call.forced_status(opnum);
  return forced ? static_cast<nfsstat4>(*forced) : NFS4_OK;
}

nfsstat4 Execution::run_listed(std::uint32_t opnum, const Row& row) {
  if ((row.traits & kChangesState) != 0 && !has_room(kMaxChangingResult)) {
    return refuse_operation(opnum, too_big());
  }
  const std::size_t before = context_.out.size();
  context_.out.u32(opnum);
  const nfsstat4 status = row.execute(context_);
  if (context_.out.ok() && context_.reply_size() <= context_.reply_limit()) return status;
  context_.out.rewind(before);
  return refuse_operation(opnum, too_big());
}

nfsstat4 Execution::too_big() const {
  return context_.cache_this ? NFS4ERR_REP_TOO_BIG_TO_CACHE : NFS4ERR_REP_TOO_BIG;
}

bool Execution::has_room(std::size_t octets) {
  if (context_.room() < octets) return false;
  const std::size_t before = context_.out.size();
  const bool fits = context_.out.reserve(octets) != nullptr;
  context_.out.rewind(before);
  return fits;
}

nfsstat4 Execution::refuse_operation(std::uint32_t opnum, nfsstat4 status) {
  context_.out.u32(opnum);
  row_of(opnum).encode_refusal(context_.out, status);
  log::debug("{} refused: {}", operation_name(static_cast<nfs_opnum4>(opnum)), status_name(status));
  return status;
}

nfsstat4 Execution::run_sequence() {
  SEQUENCE4args args;
  decode(context_.in, args);
  if (!context_.in.ok()) return refuse_operation(OP_SEQUENCE, NFS4ERR_BADXDR);
  SEQUENCE4res result;
  switch (admit(context_, args, fingerprint_, result)) {
    case Admission::execute: outcome_.session = context_.session; break;
    case Admission::refused: break;
    case Admission::uncached: replay_uncached(result); return NFS4ERR_RETRY_UNCACHED_REP;
    case Admission::replay:
      replayed_ = true;
      context_.out.rewind(start_);
      if (!context_.session->slots[context_.slot].reply.replay(context_.call)) {
        outcome_.accept = rpc::AcceptStat::system_err;
      }
      return NFS4_OK;
  }
  encode_operation(context_.out, result);
  return result.sr_status;
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
  if (context_.out.ok() && (context_.cache_this || alone)) {
    slot.reply.store(context_.out, start_);
  }
}

}  // namespace

CompoundOutcome execute_compound(ServerState& server, ServerCall& call) {
  Execution execution(server, call);
  return execution.run();
}

}  // namespace nfsrdma::responder
