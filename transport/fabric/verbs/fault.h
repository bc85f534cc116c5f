// Errors of verbs in the terms of fabric.h.
#pragma once

#include <infiniband/verbs.h>

#include <string>

#include "transport/fabric/fabric.h"
#include "transport/fabric/verbs/event_channel.h"

namespace nfsrdma::fabric::verbs {

Error connection_error(Fault fault, std::string detail);

/// Of a work completion that failed.
Error completion_error(const ibv_wc& completion);

/// Of an event that ends an attempt to connect, or a connection.
Error event_error(const ConnectionEvent& event);

/// Of a call of librdmacm or libibverbs that failed with `error_number`.
Error call_error(int error_number, const char* step, std::string detail = {});

}  // namespace nfsrdma::fabric::verbs
