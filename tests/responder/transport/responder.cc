#include "tests/responder/transport/responder.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "tests/responder/transport/rdma_call.h"
#include "transport/base/log.h"

namespace nfsrdma::responder {
namespace {

/// Rejected connections are told of no more often than this.
constexpr Duration kRejectionLogInterval = std::chrono::seconds(10);

}  // namespace

Responder::Responder(Reactor& reactor, fabric::ListeningFabric& fabric,
                     const ResponderConfig& config, Service& service, ResponderPools& pools)
    : reactor_(reactor),
      core_(reactor, service, config, pools),
      fabric_(reactor, fabric, core_.faults),
      tcp_calls_(core_),
      disconnect_timer_(reactor, [this] {
        disconnect_all("fault script: periodic");
        arm_periodic_disconnect();
      }) {}

void Responder::abort() {
  wires_.clear();
  listeners_.clear();
  tcp_listeners_.clear();
  connections_.clear();
  tcp_connections_.clear();
}

Result<std::unique_ptr<Responder>> Responder::create(Reactor& reactor,
                                                     fabric::ListeningFabric& fabric,
                                                     Service& service,
                                                     const ResponderConfig& config,
                                                     ResponderPools& pools) {
  TRY(fabric.register_pool(*pools.messages));
  TRY(fabric.register_pool(*pools.replies));
  TRY(fabric.register_pool(*pools.data));
  return std::unique_ptr<Responder>(new Responder(reactor, fabric, config, service, pools));
}

Result<net::Address> Responder::listen(const net::Address& address) {
  auto listener = fabric_.listen(behind(address), *this);
  if (!listener) return fail_from(listener);
  listeners_.push_back(std::move(*listener));
  return stand_before(address, listeners_.back()->address(), faults::Framing::mpa);
}

net::Address Responder::behind(const net::Address& address) const {
  if (!core_.config.wire_faults) return address;
  return net::resolve("127.0.0.1", 0, AF_INET).value().front();
}

Result<net::Address> Responder::stand_before(const net::Address& address, const net::Address& own,
                                             faults::Framing framing) {
  if (!core_.config.wire_faults) return own;
  auto wire = faults::WireFaults::listen(reactor_, address, own, framing, core_.faults);
  if (!wire) return fail_from(wire);
  wires_.push_back(std::move(*wire));
  return wires_.back()->address();
}

Result<net::Address> Responder::listen_tcp(const net::Address& address) {
  auto listener = TcpListener::create(reactor_, behind(address),
                                      [this](UniqueFd fd) { on_tcp_socket(std::move(fd)); });
  if (!listener) return fail_from(listener);
  tcp_listeners_.push_back(std::move(*listener));
  return stand_before(address, tcp_listeners_.back()->address(), faults::Framing::records);
}

Result<std::uint32_t> Responder::add_fault(std::string_view spec) {
  if (spec.starts_with("wire=") && !core_.config.wire_faults) {
    return fail(Error::local(ENOTSUP, "fault script", "wire= needs --wire-faults"));
  }
  auto id = core_.faults.add(spec);
  arm_periodic_disconnect();
  return id;
}

bool Responder::remove_fault(std::uint32_t id) {
  const bool removed = core_.faults.remove(id);
  arm_periodic_disconnect();
  return removed;
}

void Responder::clear_faults() {
  core_.faults.clear();
  arm_periodic_disconnect();
}

void Responder::arm_periodic_disconnect() {
  disconnect_timer_.cancel();
  if (const auto period = core_.faults.disconnect_period()) disconnect_timer_.arm(*period);
}

void Responder::disconnect_all(const char* why) {
  for (auto& connection : connections_) connection->disconnect(why);
  for (auto& connection : tcp_connections_) connection->disconnect(why);
}

void Responder::request_receive_size(std::uint32_t size) {
  for (auto& connection : connections_) connection->request_receive_size(size);
}

void Responder::raise_receive_size(std::uint32_t size) {
  for (auto& connection : connections_) connection->raise_receive_size(size);
}

void Responder::close(std::function<void()> done) {
  wires_.clear();
  listeners_.clear();
  tcp_listeners_.clear();
  disconnect_timer_.cancel();
  disconnect_all("the responder is stopping");
  if (connections() == 0) return reactor_.post(std::move(done));
  closed_ = std::move(done);
}

bool Responder::make_room() {
  std::uint64_t oldest = UINT64_MAX;
  std::function<void()> end_it;
  const auto consider = [&](auto& connection) {
    if (connection->serves_session || connection->closing() || connection->id() >= oldest) return;
    oldest = connection->id();
    end_it = [&victim = *connection] { victim.disconnect("without a session, and others wait"); };
  };
  std::ranges::for_each(connections_, consider);
  std::ranges::for_each(tcp_connections_, consider);
  if (end_it) end_it();
  return end_it != nullptr;
}

bool Responder::has_room(const std::string& peer) {
  if (!full() || make_room()) return true;
  core_.counters.connections_rejected.add();
  const TimePoint now = reactor_.now();
  if (std::exchange(rejection_logged_, now) + kRejectionLogInterval > now) return false;
  log::warning("connection of {} rejected: {} connections are open, the most that are served", peer,
               connections());
  return false;
}

void Responder::on_connect_request(std::unique_ptr<fabric::ConnectRequest> request) {
  if (!has_room(request->peer())) return request->reject({});
  auto connection = std::make_unique<RdmaConnection>(core_, *this, ++last_connection_id_);
  const auto peer = request->peer();
  auto accepted = connection->accept(*request);
  if (!accepted) {
    log::warning("connection of {} failed: {}", peer, accepted.error().message());
    return reactor_.dispose(std::move(connection));
  }
  core_.counters.connections.add();
  log::info("connection {} of {}: thresholds {} and {} bytes", connection->id(), peer,
            connection->thresholds().call, connection->thresholds().reply);
  connections_.push_back(std::move(connection));
}

void Responder::on_connection_ended(RdmaConnection& connection) {
  const auto place = std::find_if(connections_.begin(), connections_.end(),
                                  [&](const auto& each) { return each.get() == &connection; });
  if (place == connections_.end()) return;
  reactor_.dispose(std::move(*place));
  connections_.erase(place);
  report_if_closed();
}

void Responder::on_tcp_socket(UniqueFd socket) {
  if (!has_room(net::peer_address(socket.get()).text())) return;
  auto connection = std::make_unique<TcpConnection>(core_, tcp_calls_, *this, ++last_connection_id_,
                                                    std::move(socket));
  if (!connection->start()) return;
  core_.counters.connections.add();
  tcp_connections_.push_back(std::move(connection));
}

void Responder::on_connection_ended(TcpConnection& connection) {
  const auto place = std::find_if(tcp_connections_.begin(), tcp_connections_.end(),
                                  [&](const auto& each) { return each.get() == &connection; });
  if (place == tcp_connections_.end()) return;
  reactor_.dispose(std::move(*place));
  tcp_connections_.erase(place);
  report_if_closed();
}

void Responder::report_if_closed() {
  if (connections() == 0 && closed_) reactor_.post(std::exchange(closed_, nullptr));
}

void Responder::visit_counters(CounterVisitor& visitor) const {
  core_.counters.visit(visitor);
  core_.faults.visit_counters(visitor);
}

}  // namespace nfsrdma::responder
