// The server's rpcbind, for port=0 of nfs(5).
#pragma once

#include "fuse/options/options.h"
#include "transport/fabric/fabric.h"

namespace nfsrdma::fuse {

inline constexpr std::uint16_t kRpcbindPort = 111;

/// The address of the same host's NFS version 4 service, as rpcbind (RFC 1833) at `port` of that
/// host tells. Blocks, for a few seconds at most.
Result<fabric::Address> ask_rpcbind(const fabric::Address& host, Protocol protocol,
                                    std::uint16_t port = kRpcbindPort);

}  // namespace nfsrdma::fuse
