#include "transport/fabric/verbs/route.h"

#include <fmt/core.h>
#include <ifaddrs.h>
#include <sys/socket.h>

#include <cerrno>
#include <vector>

#include "transport/base/port.h"
#include "transport/base/unique_fd.h"
#include "transport/fabric/verbs/address.h"
#include "transport/fabric/verbs/fault.h"
#include "transport/fabric/verbs/presence.h"
#include "transport/fabric/verbs/verbs.h"

namespace nfsrdma::fabric {
namespace verbs {
namespace {

constexpr const char* kRouteStep = "RDMA device";

/// The address this machine would send from. Connecting a datagram socket sends nothing.
Result<Address> local_address_towards(const Address& peer) {
  const UniqueFd socket(::socket(peer.storage.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket || ::connect(socket.get(), peer.get(), peer.length) != 0) {
    return fail(call_error(errno, "route", peer.text()));
  }
  Address local;
  local.length = sizeof local.storage;
  if (::getsockname(socket.get(), socket_address(local), &local.length) != 0) {
    return fail(call_error(errno, "route", peer.text()));
  }
  set_port(local.storage, 0);
  return local;
}

/// The connection manager of the kernel does not connect over the loopback interface.
bool is_loopback(const Address& address) {
  if (address.storage.ss_family == AF_INET6) {
    return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6&>(address.storage).sin6_addr);
  }
  const auto& v4 = reinterpret_cast<const sockaddr_in&>(address.storage);
  return ntohl(v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

/// "10.0.0.1:0" without the port, which has no meaning here.
std::string without_port(const Address& address) {
  const std::string text = address.text();
  return text.substr(0, text.rfind(':'));
}

Error no_device(const Address& peer, const Address& local) {
  return Error::local(ENODEV, kRouteStep,
                      fmt::format("none has the address from which the route to {} leaves, {}",
                                  peer.text(), without_port(local)));
}

/// Finds the device that has an address, by binding an id to it. An error without detail: no
/// device.
Result<Route> device_at(const Address& local) {
  Route route;
  route.local = local;
  route.channel.reset(::rdma_create_event_channel());
  rdma_cm_id* id = nullptr;
  if (!route.channel || ::rdma_create_id(route.channel.get(), &id, nullptr, RDMA_PS_TCP) != 0) {
    return fail(call_error(errno, "open /dev/infiniband/rdma_cm"));
  }
  route.id.reset(id);
  if (::rdma_bind_addr(id, socket_address(route.local)) != 0) {
    if (errno == ENODEV || errno == EADDRNOTAVAIL) return fail(Error::local(ENODEV, kRouteStep));
    return fail(call_error(errno, "open the RDMA device of", without_port(local)));
  }
  if (route.device() == nullptr) return fail(Error::local(ENODEV, kRouteStep));
  return route;
}

/// This machine's addresses of a family, without those of the loopback interface.
std::vector<Address> local_addresses(sa_family_t family) {
  std::vector<Address> addresses;
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return addresses;
  for (const ifaddrs* each = all; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != family) continue;
    const Address address = address_of(*each->ifa_addr);
    if (!is_loopback(address)) addresses.push_back(address);
  }
  ::freeifaddrs(all);
  return addresses;
}

/// The device that the user asked for, by another address than that of the route.
Result<Route> device_named(const std::string& wanted, const Address& peer) {
  std::string others;
  for (const Address& local : local_addresses(peer.storage.ss_family)) {
    auto route = device_at(local);
    if (!route) continue;
    if (route->device_name() == wanted) return route;
    others += fmt::format("{}{} ({})", others.empty() ? "" : ", ", route->device_name(),
                          without_port(local));
  }
  return fail(Error::local(
      ENODEV, kRouteStep,
      fmt::format("{} is not here, or has no address to reach {} from; there is {}", wanted,
                  peer.text(), others.empty() ? "no other with one" : others)));
}

}  // namespace

Result<Route> find_route(const Address& peer, const std::string& wanted) {
  TRY(check_presence());
  auto local = local_address_towards(peer);
  if (local && !is_loopback(*local)) {
    auto route = device_at(*local);
    if (route && (wanted.empty() || route->device_name() == wanted)) return route;
    const bool none = !route && route.error().is(Layer::local, ENODEV);
    if (!route && !none) return route;
  }
  if (!wanted.empty()) return device_named(wanted, peer);
  if (!local) return fail_from(local);
  return fail(no_device(peer, *local));
}

}  // namespace verbs

Result<std::string> find_rdma_device(const Address& peer, const std::string& wanted) {
  auto route = verbs::find_route(peer, wanted);
  if (!route) return fail_from(route);
  return route->device_name();
}

}  // namespace nfsrdma::fabric
