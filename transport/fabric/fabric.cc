#include "transport/fabric/fabric.h"

#include <netdb.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace nfsrdma::fabric {

std::string_view fault_name(int fault) {
  static constexpr std::array<std::string_view, 12> names = {
      "no fault",
      "closed by the peer",
      "connection reset",
      "the peer rejected the connection",
      "connection refused: nothing listens there",
      "no answer in time",
      "the peer broke the protocol",
      "the peer used memory it had no right to",
      "the peer terminated the stream",
      "a message did not fit the posted receive",
      "closed by this side",
      "out of a local resource"};
  const auto index = static_cast<std::size_t>(fault);
  return index < names.size() ? names[index] : "unknown fault";
}

Error as_loss(const Error& reason) {
  if (reason.layer == Layer::fabric) return reason;
  return Error{Layer::fabric, static_cast<int>(Fault::local_close), "connection", reason.message()};
}

bool message_can_cause(const Error& reason) {
  if (reason.layer != Layer::fabric) return false;
  switch (static_cast<Fault>(reason.code)) {
    case Fault::protocol:
    case Fault::remote_access:
    case Fault::remote_terminate:
    case Fault::receive_too_small: return true;
    default: return false;
  }
}

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

}  // namespace nfsrdma::fabric
