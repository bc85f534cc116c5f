// Addresses of servers.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <vector>

#include "transport/base/result.h"

namespace nfsrdma::net {

struct Address {
  sockaddr_storage storage{};
  socklen_t length = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  std::string text() const;  ///< "127.0.0.1:20049", "[::1]:20049"
};

/// host (name or literal) and port to addresses, in the resolver's order. Blocks: call it before
/// the reactor runs.
Result<std::vector<Address>> resolve(const std::string& host, std::uint16_t port, int family);

}  // namespace nfsrdma::net
