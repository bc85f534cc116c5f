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

/// `First` stands before the first comma, so that rows can be listed behind one each.
template <class First, class... Ops>
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

// clang-format off
using Operations = OperationList<void
#define NFSRDMA_UNSENT_OPERATION(NAME, number, minor) , Operation<NAME##4args, NAME##4res>
#include "client/proto/operations.def"
>;

using CallbackOperations = OperationList<void
#define NFSRDMA_CALLBACK(NAME, number) , Operation<NAME##4args, NAME##4res>
#include "client/proto/operations.def"
>;
// clang-format on

}  // namespace nfsrdma::nfs4
