// Socket addresses as librdmacm gives them.
#pragma once

#include <netinet/in.h>

#include <cstring>

#include "transport/fabric/fabric.h"

namespace nfsrdma::fabric::verbs {

inline Address address_of(const sockaddr& given) {
  Address address;
  address.length = given.sa_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  std::memcpy(&address.storage, &given, address.length);
  return address;
}

/// For librdmacm, which changes nothing of it.
inline sockaddr* socket_address(Address& address) {
  return reinterpret_cast<sockaddr*>(&address.storage);
}

/// `port` in network order.
inline void set_port(Address& address, in_port_t port) {
  if (address.storage.ss_family == AF_INET6) {
    reinterpret_cast<sockaddr_in6&>(address.storage).sin6_port = port;
  } else {
    reinterpret_cast<sockaddr_in&>(address.storage).sin_port = port;
  }
}

}  // namespace nfsrdma::fabric::verbs
