#include "client/compound/operation_names.h"

#include "client/proto/opnum.h"

namespace nfsrdma::client {
namespace {

/// How much an operation says about its request.
enum class Weight : std::uint8_t { session, handle, check, name, main };

Weight weight_of(nfs4::nfs_opnum4 operation) {
  switch (operation) {
    case nfs4::OP_SEQUENCE: return Weight::session;
    case nfs4::OP_PUTFH:
    case nfs4::OP_PUTPUBFH:
    case nfs4::OP_PUTROOTFH:
    case nfs4::OP_SAVEFH:
    case nfs4::OP_RESTOREFH:
    case nfs4::OP_GETFH: return Weight::handle;
    case nfs4::OP_GETATTR:
    case nfs4::OP_VERIFY:
    case nfs4::OP_NVERIFY: return Weight::check;
    case nfs4::OP_LOOKUP: return Weight::name;  // before OPEN, which is what was wanted
    default: return Weight::main;
  }
}

}  // namespace

nfs4::nfs_opnum4 main_operation(std::span<const nfs4::nfs_opnum4> asked) {
  if (asked.empty()) return nfs4::OP_ILLEGAL;
  nfs4::nfs_opnum4 best = asked.front();
  for (const nfs4::nfs_opnum4 operation : asked) {
    if (weight_of(operation) > weight_of(best)) best = operation;
  }
  return best;
}

std::string operation_names(const Compound& compound) {
  std::string names;
  for (const nfs4::nfs_opnum4 opnum : compound.asked()) {
    names += names.empty() ? "" : " ";
    names += nfs4::operation_name(opnum);
  }
  return names;
}

}  // namespace nfsrdma::client
