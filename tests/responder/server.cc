#include "tests/responder/server.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "tests/responder/fabric/recorded_listening_fabric.h"
#include "tests/responder/fabric/verbs_fabric.h"
#include "tests/responder/nfs/fs/credentials.h"
#include "tests/responder/transport/commands.h"
#include "transport/base/log.h"
#include "transport/capture/sink.h"

namespace nfsrdma::responder {
namespace {

std::uint16_t port_of(const fabric::Address& address) {
  const auto& storage = address.storage;
  const bool v6 = storage.ss_family == AF_INET6;
  return ntohs(v6 ? reinterpret_cast<const sockaddr_in6&>(storage).sin6_port
                  : reinterpret_cast<const sockaddr_in&>(storage).sin_port);
}

}  // namespace

Server::Server(Reactor& reactor) : reactor_(reactor) {}

Server::~Server() {
  if (responder_) responder_->abort();
  service_.reset();  // before the calls it may still hold
}

Result<std::unique_ptr<Server>> Server::create(Reactor& reactor, const ServerOptions& options) {
  std::unique_ptr<Server> server(new Server(reactor));
  TRY(server->start(options));
  return server;
}

Result<void> Server::start(const ServerOptions& options) {
  ResponderConfig transport = options.transport;
  if (!options.capture_path.empty()) {
    auto sink = capture::Sink::create(options.capture_path);
    if (!sink) return fail_from(sink);
    capture_ = std::move(*sink);
    capture_->flush_after_turns(reactor_);
    transport.capture = capture_.get();
  }
  if (options.verbs) keep_own_identity();
  auto pools = ResponderPools::create(transport);
  if (!pools) return fail_from(pools);
  pools_ = std::move(*pools);
  fabric_ = options.verbs ? fabric::make_listening_verbs_fabric(reactor_)
                          : fabric::make_listening_iwarp_fabric(reactor_);
  if (options.verbs && capture_) {
    // What a device sends is not seen here: packets are made of it.
    fabric_ = std::make_unique<recording::RecordedListeningFabric>(std::move(fabric_), *capture_);
  }
  auto service = NfsService::create(reactor_, options.service);
  if (!service) return fail_from(service);
  service_ = std::move(*service);
  auto responder = Responder::create(reactor_, *fabric_, *service_, transport, pools_);
  if (!responder) return fail_from(responder);
  responder_ = std::move(*responder);
  for (const auto& fault : options.faults) TRY(responder_->add_fault(fault));
  if (!options.control_path.empty()) {
    auto control =
        ControlSocket::create(reactor_, options.control_path,
                              [this](const std::string& line) { return run_command(line); });
    if (!control) return fail_from(control);
    control_ = std::move(*control);
  }
  return listen(options);
}

Result<void> Server::listen(const ServerOptions& options) {
  std::uint16_t chosen = options.port;
  for (const auto& name : options.addresses) {
    auto resolved = fabric::resolve(name, chosen, AF_UNSPEC);
    if (!resolved) return fail_from(resolved);
    auto bound = responder_->listen(resolved->front());
    if (!bound) return fail_from(bound);
    if (address_.length == 0) address_ = *bound;
    chosen = port_of(*bound);
    log::info("serving {} on {}", options.service.directory, bound->text());
  }
  if (address_.length == 0) return fail(Error::local(EINVAL, "listen", "no address given"));
  return options.tcp_port ? listen_tcp(options) : Result<void>{};
}

Result<void> Server::listen_tcp(const ServerOptions& options) {
  std::uint16_t chosen = *options.tcp_port;
  for (const auto& name : options.addresses) {
    auto resolved = fabric::resolve(name, chosen, AF_UNSPEC);
    if (!resolved) return fail_from(resolved);
    auto bound = responder_->listen_tcp(resolved->front());
    if (!bound) return fail_from(bound);
    if (!tcp_address_) tcp_address_ = *bound;
    chosen = port_of(*bound);
  }
  return {};
}

std::uint16_t Server::port() const { return port_of(address_); }

void Server::visit_counters(CounterVisitor& visitor) const {
  responder_->visit_counters(visitor);
  service_->visit_counters(visitor);
}

std::string Server::counters_text() const {
  CounterText visitor;
  visit_counters(visitor);
  return visitor.text;
}

void Server::close(std::function<void()> done) { responder_->close(std::move(done)); }

}  // namespace nfsrdma::responder
