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

}  // namespace nfsrdma::fabric::verbs
