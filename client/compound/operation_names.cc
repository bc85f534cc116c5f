#include "client/compound/operation_names.h"

#include "client/proto/opnum.h"

namespace nfsrdma::client {

std::string operation_names(const Compound& compound) {
  std::string names;
  for (const nfs4::nfs_opnum4 opnum : compound.asked()) {
    names += names.empty() ? "" : " ";
    names += nfs4::operation_name(opnum);
  }
  return names;
}

}  // namespace nfsrdma::client
