#include "tests/responder/nfs/operation_table.h"

#include <array>

#include "tests/responder/nfs/ops/ops.h"

namespace nfsrdma::responder {

using namespace nfs4;

namespace {

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
constexpr OperationRow row(unsigned traits = 0) {
  return {&execute<Args, Res, Run>, &encode_refusal<Res>, traits};
}
template <class Args, class Res, nfsstat4 (*Run)(CompoundContext&, const Args&)>
constexpr OperationRow encoding_row(unsigned traits = 0) {
  return {&execute_encoding<Args, Run>, &encode_refusal<Res>, traits};
}

constexpr std::size_t kOperationNumbers = OP_RECLAIM_COMPLETE + 1;
using Table = std::array<OperationRow, kOperationNumbers>;

#define NFSRDMA_ROW(NAME, function, ...) \
  table[OP_##NAME] = row<NAME##4args, NAME##4res, function>(__VA_ARGS__)

constexpr void add_session_rows(Table& table) {
  NFSRDMA_ROW(EXCHANGE_ID, op_exchange_id, kSessionless);
  NFSRDMA_ROW(CREATE_SESSION, op_create_session, kSessionless);
  NFSRDMA_ROW(DESTROY_SESSION, op_destroy_session, kSessionless);
  NFSRDMA_ROW(DESTROY_CLIENTID, op_destroy_clientid, kSessionless);
  NFSRDMA_ROW(BIND_CONN_TO_SESSION, op_bind_conn_to_session, kSessionless);
  NFSRDMA_ROW(BACKCHANNEL_CTL, op_backchannel_ctl);
  NFSRDMA_ROW(RECLAIM_COMPLETE, op_reclaim_complete);
}

constexpr void add_namespace_rows(Table& table) {
  NFSRDMA_ROW(PUTROOTFH, op_putrootfh);
  NFSRDMA_ROW(PUTPUBFH, op_putpubfh);
  NFSRDMA_ROW(PUTFH, op_putfh);
  NFSRDMA_ROW(GETFH, op_getfh, kNeedsCurrent);
  NFSRDMA_ROW(SAVEFH, op_savefh, kNeedsCurrent);
  NFSRDMA_ROW(RESTOREFH, op_restorefh);
  NFSRDMA_ROW(LOOKUP, op_lookup, kNeedsCurrent);
  NFSRDMA_ROW(LOOKUPP, op_lookupp, kNeedsCurrent);
  NFSRDMA_ROW(CREATE, op_create, kNeedsCurrent | kModifies | kChangesState);
  NFSRDMA_ROW(REMOVE, op_remove, kNeedsCurrent | kModifies | kChangesState);
  NFSRDMA_ROW(RENAME, op_rename, kNeedsCurrent | kNeedsSaved | kModifies | kChangesState);
  NFSRDMA_ROW(LINK, op_link, kNeedsCurrent | kNeedsSaved | kModifies | kChangesState);
  NFSRDMA_ROW(READLINK, op_readlink, kNeedsCurrent);
  NFSRDMA_ROW(SECINFO, op_secinfo, kNeedsCurrent);
  NFSRDMA_ROW(SECINFO_NO_NAME, op_secinfo_no_name, kNeedsCurrent);
  table[OP_READDIR] = encoding_row<READDIR4args, READDIR4res, op_readdir>(kNeedsCurrent);
}

constexpr void add_attribute_rows(Table& table) {
  NFSRDMA_ROW(ACCESS, op_access, kNeedsCurrent);
  table[OP_GETATTR] = encoding_row<GETATTR4args, GETATTR4res, op_getattr>(kNeedsCurrent);
  NFSRDMA_ROW(SETATTR, op_setattr, kNeedsCurrent | kModifies | kChangesState);
  NFSRDMA_ROW(VERIFY, op_verify, kNeedsCurrent);
  NFSRDMA_ROW(NVERIFY, op_nverify, kNeedsCurrent);
}

constexpr void add_open_file_rows(Table& table) {
  NFSRDMA_ROW(OPEN, op_open, kNeedsCurrent | kChangesState);
  NFSRDMA_ROW(CLOSE, op_close, kNeedsCurrent | kChangesState);
  NFSRDMA_ROW(OPEN_DOWNGRADE, op_open_downgrade, kNeedsCurrent | kChangesState);
  NFSRDMA_ROW(READ, op_read, kNeedsCurrent);
  NFSRDMA_ROW(WRITE, op_write, kNeedsCurrent | kModifies | kChangesState);
  NFSRDMA_ROW(COMMIT, op_commit, kNeedsCurrent);
  NFSRDMA_ROW(LOCK, op_lock, kNeedsCurrent | kChangesState);
  NFSRDMA_ROW(LOCKT, op_lockt, kNeedsCurrent);
  NFSRDMA_ROW(LOCKU, op_locku, kNeedsCurrent | kChangesState);
  NFSRDMA_ROW(TEST_STATEID, op_test_stateid);
  NFSRDMA_ROW(FREE_STATEID, op_free_stateid, kChangesState);
  NFSRDMA_ROW(DELEGRETURN, op_delegreturn, kNeedsCurrent | kChangesState);
}
#undef NFSRDMA_ROW

struct UnsupportedRes {
  nfsstat4 status = NFS4_OK;
  static void fields(auto& self, auto& visit) { visit("status", self.status); }
};

constexpr Table kTable = [] {
  Table table{};
  for (OperationRow& entry : table) entry.encode_refusal = &encode_refusal<UnsupportedRes>;
  table[OP_SEQUENCE].encode_refusal = &encode_refusal<SEQUENCE4res>;
  add_session_rows(table);
  add_namespace_rows(table);
  add_attribute_rows(table);
  add_open_file_rows(table);
  return table;
}();
constexpr OperationRow kUnknown{nullptr, &encode_refusal<UnsupportedRes>, 0};

}  // namespace

const OperationRow& operation_row(std::uint32_t opnum) {
  return opnum < kTable.size() ? kTable[opnum] : kUnknown;
}

}  // namespace nfsrdma::responder
