// What a request asks for, for the log.
#pragma once

#include <string>

#include "client/compound/compound.h"

namespace nfsrdma::client {

/// "SEQUENCE PUTFH GETATTR"
std::string operation_names(const Compound& compound);

}  // namespace nfsrdma::client
