// Every operation of COMPOUND and CB_COMPOUND whose arguments and results are known, the header
// that a server reads before them, and a result of any type.
#pragma once

#include "client/proto/compound.h"
#include "tests/proto/ops_of_tests.h"

namespace nfsrdma::nfs4 {

inline constexpr std::uint32_t kProcNull = 0;
/// Operations in one COMPOUND that a decoder accepts.
inline constexpr std::uint32_t kMaxOperations = 1024;

/// COMPOUND4args up to its operations; `operations` of them follow, each an opnum and arguments.
struct COMPOUND4args_header {
  std::string_view tag;
  std::uint32_t minorversion = kNfsMinorVersion1;
  std::uint32_t operations = 0;

  static void fields(auto& self, auto& visit) {
    visit("tag", self.tag, kMaxText);
    visit("minorversion", self.minorversion);
    visit("operations", self.operations);
  }
};

/// "CB_RECALL"; "unknown" for a number the protocol does not define.
std::string_view operation_name(nfs_cb_opnum4 opnum);

namespace detail {

/// Finds the status, which every result lists first.
struct FindStatus {
  nfsstat4* found = nullptr;

  void operator()(const char*, nfsstat4& status) {
    if (!found) found = &status;
  }
  void operator()(const char*, auto&) {}
  void operator()(const char*, auto&, std::size_t) {}
  void choose(const char* name, auto& discriminant, auto...) { (*this)(name, discriminant); }
};

}  // namespace detail

/// The status of a result, whatever the RFC calls it ("status", "sr_status", "csr_status"...).
template <class Res>
nfsstat4& status_of(Res& result) {
  detail::FindStatus visit;
  Res::fields(result, visit);
  return *visit.found;
}

/// Decodes the opnum of the next result and the result. Another opnum than Res's is
/// Fault::unexpected, but for OP_ILLEGAL, a server's answer to an operation that it does not know:
/// then status_of(result) is NFS4ERR_OP_ILLEGAL.
template <class Res>
void decode_result(xdr::Decoder& in, Res& result) {
  const std::uint32_t opnum = in.u32("resop");
  if (opnum == OP_ILLEGAL) {
    nfsstat4 status = NFS4_OK;
    Decode visit(in);
    visit("ILLEGAL status", status);
    status_of(result) = NFS4ERR_OP_ILLEGAL;
    return;
  }
  if (opnum != Res::opnum) in.set_fault(xdr::Fault::unexpected, "resop");
  decode(in, result);
}

/// One operation: its arguments and results.
template <class ArgsT, class ResT>
struct Operation {
  using Args = ArgsT;
  using Res = ResT;
  static_assert(Args::opnum == Res::opnum);
};

template <class... Ops>
struct OperationList {
  /// Calls f(Operation<...>{}) for the operation of that number; false when it is not in the list.
  template <class Opnum, class F>
  static bool dispatch(Opnum opnum, F&& f) {
    return ((opnum == Ops::Args::opnum && (f(Ops{}), true)) || ...);
  }
  /// Calls f for every operation.
  template <class F>
  static void for_each(F&& f) {
    (f(Ops{}), ...);
  }
};

using Operations = OperationList<
    Operation<ACCESS4args, ACCESS4res>, Operation<BACKCHANNEL_CTL4args, BACKCHANNEL_CTL4res>,
    Operation<BIND_CONN_TO_SESSION4args, BIND_CONN_TO_SESSION4res>,
    Operation<CLOSE4args, CLOSE4res>, Operation<COMMIT4args, COMMIT4res>,
    Operation<CREATE4args, CREATE4res>, Operation<CREATE_SESSION4args, CREATE_SESSION4res>,
    Operation<DELEGPURGE4args, DELEGPURGE4res>, Operation<DELEGRETURN4args, DELEGRETURN4res>,
    Operation<DESTROY_CLIENTID4args, DESTROY_CLIENTID4res>,
    Operation<DESTROY_SESSION4args, DESTROY_SESSION4res>,
    Operation<EXCHANGE_ID4args, EXCHANGE_ID4res>, Operation<FREE_STATEID4args, FREE_STATEID4res>,
    Operation<GETATTR4args, GETATTR4res>, Operation<GETFH4args, GETFH4res>,
    Operation<LINK4args, LINK4res>, Operation<LOCK4args, LOCK4res>,
    Operation<LOCKT4args, LOCKT4res>, Operation<LOCKU4args, LOCKU4res>,
    Operation<LOOKUP4args, LOOKUP4res>, Operation<LOOKUPP4args, LOOKUPP4res>,
    Operation<NVERIFY4args, NVERIFY4res>, Operation<OPEN4args, OPEN4res>,
    Operation<OPEN_DOWNGRADE4args, OPEN_DOWNGRADE4res>, Operation<PUTFH4args, PUTFH4res>,
    Operation<PUTPUBFH4args, PUTPUBFH4res>, Operation<PUTROOTFH4args, PUTROOTFH4res>,
    Operation<READ4args, READ4res>, Operation<READDIR4args, READDIR4res>,
    Operation<READLINK4args, READLINK4res>, Operation<RECLAIM_COMPLETE4args, RECLAIM_COMPLETE4res>,
    Operation<REMOVE4args, REMOVE4res>, Operation<RENAME4args, RENAME4res>,
    Operation<RESTOREFH4args, RESTOREFH4res>, Operation<SAVEFH4args, SAVEFH4res>,
    Operation<SECINFO4args, SECINFO4res>, Operation<SECINFO_NO_NAME4args, SECINFO_NO_NAME4res>,
    Operation<SEQUENCE4args, SEQUENCE4res>, Operation<SETATTR4args, SETATTR4res>,
    Operation<TEST_STATEID4args, TEST_STATEID4res>, Operation<VERIFY4args, VERIFY4res>,
    Operation<WRITE4args, WRITE4res>>;

using CallbackOperations = OperationList<
    Operation<CB_GETATTR4args, CB_GETATTR4res>, Operation<CB_NOTIFY_LOCK4args, CB_NOTIFY_LOCK4res>,
    Operation<CB_RECALL4args, CB_RECALL4res>, Operation<CB_RECALL_ANY4args, CB_RECALL_ANY4res>,
    Operation<CB_RECALL_SLOT4args, CB_RECALL_SLOT4res>,
    Operation<CB_RECALLABLE_OBJ_AVAIL4args, CB_RECALLABLE_OBJ_AVAIL4res>,
    Operation<CB_SEQUENCE4args, CB_SEQUENCE4res>,
    Operation<CB_WANTS_CANCELLED4args, CB_WANTS_CANCELLED4res>>;

}  // namespace nfsrdma::nfs4
