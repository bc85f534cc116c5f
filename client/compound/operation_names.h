// The operations of a request by name, for the log.
#pragma once

#include <span>
#include <string>

#include "client/compound/compound.h"

namespace nfsrdma::client {

/// "SEQUENCE PUTFH GETATTR"
std::string operation_names(const Compound& compound);
/// The operation that a request is about: the first that is neither SEQUENCE nor concerned with
/// handles; GETATTR and the like only when there is no other. SEQUENCE when that is alone.
nfs4::nfs_opnum4 main_operation(std::span<const nfs4::nfs_opnum4> asked);

}  // namespace nfsrdma::client
