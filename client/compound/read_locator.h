// Where the data of a READ lies in its reply, found before the reply is complete.
#pragma once

#include "transport/rpc/call.h"

namespace nfsrdma::client {

/// For a COMPOUND of SEQUENCE, PUTFH and READ.
extern const rpc::PayloadLocator kReadLocator;

}  // namespace nfsrdma::client
