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
constexpr OperationRow row(unsigned traits) {
  return {&execute<Args, Res, Run>, &encode_refusal<Res>, traits};
}
template <class Args, class Res, nfsstat4 (*Run)(CompoundContext&, const Args&)>
constexpr OperationRow encoding_row(unsigned traits) {
  return {&execute_encoding<Args, Run>, &encode_refusal<Res>, traits};
}

constexpr std::size_t kOperationNumbers = OP_RECLAIM_COMPLETE + 1;
using Table = std::array<OperationRow, kOperationNumbers>;

constexpr void add_rows(Table& table) {
#define NFSRDMA_EXECUTED(function, NAME, traits) \
  table[OP_##NAME] = row<NAME##4args, NAME##4res, function>(traits);
#define NFSRDMA_ENCODING(function, NAME, traits) \
  table[OP_##NAME] = encoding_row<NAME##4args, NAME##4res, function>(traits);
#include "tests/responder/nfs/ops/ops.def"
}

struct UnsupportedRes {
  nfsstat4 status = NFS4_OK;
  static void fields(auto& self, auto& visit) { visit("status", self.status); }
};

constexpr Table kTable = [] {
  Table table{};
  for (OperationRow& entry : table) entry.encode_refusal = &encode_refusal<UnsupportedRes>;
  table[OP_SEQUENCE].encode_refusal = &encode_refusal<SEQUENCE4res>;
  add_rows(table);
  return table;
}();
constexpr OperationRow kUnknown{nullptr, &encode_refusal<UnsupportedRes>, 0};

}  // namespace

const OperationRow& operation_row(std::uint32_t opnum) {
  return opnum < kTable.size() ? kTable[opnum] : kUnknown;
}

}  // namespace nfsrdma::responder
