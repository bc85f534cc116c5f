#include "transport/fabric/verbs/route.h"

#include <fmt/core.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "transport/base/unique_fd.h"
#include "transport/fabric/verbs/address.h"
#include "transport/fabric/verbs/fault.h"
#include "transport/fabric/verbs/presence.h"
#include "transport/fabric/verbs/verbs.h"

namespace nfsrdma::fabric {
namespace verbs {
namespace {

/// The address this machine would send from. Connecting a datagram socket sends nothing.
Result<Address> local_address_towards(const Address& peer) {
  const UniqueFd socket(::socket(peer.storage.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket || ::connect(socket.get(), peer.get(), peer.length) != 0) {
    return fail(call_error(errno, "route", peer.text()));
  }
  Address local;
  local.length = sizeof local.storage;
  auto* storage = reinterpret_cast<sockaddr*>(&local.storage);
  if (::getsockname(socket.get(), storage, &local.length) != 0) {
    return fail(call_error(errno, "route", peer.text()));
  }
  set_port(local, 0);
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

/// "10.0.0.1:0" without the port, which means nothing here.
std::string without_port(const Address& address) {
  const std::string text = address.text();
  return text.substr(0, text.rfind(':'));
}

Error no_device(const Address& peer, const Address& local) {
  return Error::local(ENODEV, "RDMA device",
                      fmt::format("none has the address from which the route to {} leaves, {}",
                                  peer.text(), without_port(local)));
}

}  // namespace

Result<Route> find_route(const Address& peer) {
  TRY(check_presence());
  auto local = local_address_towards(peer);
  if (!local) return fail_from(local);
  if (is_loopback(*local)) return fail(no_device(peer, *local));
  Route route;
  route.channel.reset(::rdma_create_event_channel());
  rdma_cm_id* id = nullptr;
  if (!route.channel || ::rdma_create_id(route.channel.get(), &id, nullptr, RDMA_PS_TCP) != 0) {
    return fail(call_error(errno, "open /dev/infiniband/rdma_cm"));
  }
  route.id.reset(id);
  if (::rdma_bind_addr(id, reinterpret_cast<sockaddr*>(&local->storage)) != 0) {
    if (errno == ENODEV || errno == EADDRNOTAVAIL) return fail(no_device(peer, *local));
    return fail(call_error(errno, "open the RDMA device of", without_port(*local)));
  }
  if (route.device() == nullptr) return fail(no_device(peer, *local));
  return route;
}

}  // namespace verbs

Result<std::string> find_rdma_device(const Address& peer) {
  auto route = verbs::find_route(peer);
  if (!route) return fail_from(route);
  return route->device_name();
}

}  // namespace nfsrdma::fabric
