#include "transport/net/address.h"

#include <netdb.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace nfsrdma::net {

std::string Address::text() const {
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> service{};
  if (::getnameinfo(get(), length, host.data(), host.size(), service.data(), service.size(),
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return "unknown address";
  }
  const bool v6 = storage.ss_family == AF_INET6;
  return (v6 ? "[" : "") + std::string(host.data()) + (v6 ? "]:" : ":") + service.data();
}

Result<std::vector<Address>> resolve(const std::string& host, std::uint16_t port, int family) {
  addrinfo hints{};
  hints.ai_family = family;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int rc = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (rc != 0) {
    return fail(Error::local(rc == EAI_SYSTEM ? errno : EHOSTUNREACH, "resolve server name",
                             host + ": " + ::gai_strerror(rc)));
  }
  std::vector<Address> addresses;
  for (const addrinfo* entry = found; entry; entry = entry->ai_next) {
    Address address;
    std::memcpy(&address.storage, entry->ai_addr, entry->ai_addrlen);
    address.length = entry->ai_addrlen;
    addresses.push_back(address);
  }
  ::freeaddrinfo(found);
  return addresses;
}

}  // namespace nfsrdma::net
