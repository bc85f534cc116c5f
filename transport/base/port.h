// The port of a socket address.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>

namespace nfsrdma {

/// `port` in the machine's byte order. For addresses of IPv4 and IPv6.
inline void set_port(sockaddr_storage& address, std::uint16_t port) {
  if (address.ss_family == AF_INET6) {
    reinterpret_cast<sockaddr_in6&>(address).sin6_port = htons(port);
  } else {
    reinterpret_cast<sockaddr_in&>(address).sin_port = htons(port);
  }
}

}  // namespace nfsrdma
