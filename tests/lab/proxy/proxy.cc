#include "tests/lab/proxy/proxy.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "tests/lab/proxy/control.h"
#include "tests/responder/transport/commands.h"

namespace nfsrdma::lab::proxy {
namespace {

/// Fewer than the responder's, so that the data of all calls has room. A device has all memory
/// locked, once for each side and server connection.
constexpr std::size_t kClients = 8;
constexpr std::size_t kClientsOfDevice = 4;
constexpr std::uint32_t kCredits = 32;

Result<void> open_capture(Reactor& reactor, const std::string& path,
                          std::unique_ptr<capture::Sink>& sink) {
  if (path.empty()) return {};
  auto opened = capture::Sink::create(path);
  if (!opened) return fail_from(opened);
  (*opened)->flush_after_turns(reactor);
  sink = std::move(*opened);
  return {};
}

}  // namespace

Result<std::unique_ptr<Proxy>> Proxy::create(Reactor& reactor, const ProxyOptions& options) {
  std::unique_ptr<Proxy> proxy(new Proxy(reactor));
  TRY(proxy->start(options));
  return proxy;
}

Proxy::~Proxy() {
  control_.reset();
  if (responder_) responder_->abort();
  relays_.clear();  // before the calls they may still hold
}

Result<void> Proxy::open_captures(const ProxyOptions& options) {
  TRY(open_capture(reactor_, options.client_capture, client_capture_));
  TRY(open_capture(reactor_, options.server_capture, server_capture_));
  return open_capture(reactor_, options.rpc_capture, rpc_capture_);
}

Result<void> Proxy::start(const ProxyOptions& options) {
  TRY(open_captures(options));
  upstream_ = {.server = options.server,
               .carrier = options.server_carrier,
               .verbs = options.verbs,
               .client_side = &pools_,
               .inline_size = options.inline_size,
               .calls = responder::kMaxCredits,
               .crc = options.crc,
               .wire = server_capture_.get(),
               .whole = rpc_capture_.get()};
  responder::ResponderConfig config;
  config.inline_size = options.inline_size;
  config.credits = kCredits;
  const bool device =
      options.listen_carrier == Carrier::verbs || options.server_carrier == Carrier::verbs;
  config.max_connections = device ? kClientsOfDevice : kClients;
  config.data_buffers = config.max_connections * kCredits;
  config.crc = options.crc;
  config.wire_faults = options.wire_faults;
  config.capture = client_capture_.get();
  auto pools = responder::ResponderPools::create(config);
  if (!pools) return fail_from(pools);
  pools_ = std::move(*pools);
  fabric_ = make_provider(reactor_, options.listen_carrier, options.verbs, client_capture_.get());
  auto responder = responder::Responder::create(reactor_, *fabric_, *this, config, pools_);
  if (!responder) return fail_from(responder);
  responder_ = std::move(*responder);
  for (const auto& fault : options.faults) {
    const std::string refusal = refusal_of(fault);
    if (!refusal.empty()) return fail(Error::local(EINVAL, "fault script", refusal));
    TRY(responder_->add_fault(fault));
  }
  if (!options.control_path.empty()) {
    auto control = responder::ControlSocket::create(
        reactor_, options.control_path,
        [this](const std::string& line) { return run_command(line); });
    if (!control) return fail_from(control);
    control_ = std::move(*control);
  }
  return listen(options);
}

Result<void> Proxy::listen(const ProxyOptions& options) {
  auto bound = has_rdma(options.listen_carrier) ? responder_->listen(options.listen)
                                                : responder_->listen_tcp(options.listen);
  if (!bound) return fail_from(bound);
  address_ = *bound;
  return {};
}

Relay* Proxy::relay_of(const responder::Connection& connection) {
  for (auto& relay : relays_) {
    if (relay->client() == &connection) return relay.get();
  }
  return nullptr;
}

void Proxy::handle(responder::ServerCall& call) {
  responder::Connection& client = call.connection();
  Relay* relay = relay_of(client);
  if (!relay) {
    client.serves_session = true;  // none is thrown out for another
    relays_.push_back(std::make_unique<Relay>(reactor_, upstream_, client,
                                              [this](Relay& ended) { drop(ended); }));
    relay = relays_.back().get();
  }
  relay->forward(call);
}

void Proxy::on_connection_closed(responder::Connection& connection) {
  if (Relay* relay = relay_of(connection)) relay->on_client_closed();
}

void Proxy::drop(Relay& relay) {
  const auto place =
      std::ranges::find_if(relays_, [&](const auto& each) { return each.get() == &relay; });
  reactor_.dispose(std::move(*place));
  relays_.erase(place);
  report_if_closed();
}

void Proxy::close(std::function<void()> done) {
  closed_ = std::move(done);
  responder_->close([this] {
    clients_gone_ = true;
    report_if_closed();
  });
}

void Proxy::report_if_closed() {
  if (clients_gone_ && relays_.empty() && closed_) reactor_.post(std::exchange(closed_, nullptr));
}

std::string Proxy::run_command(const std::string& line) {
  const responder::Command command(line);
  const std::string refusal = command.word == "fault" ? refusal_of(command.argument) : "";
  if (!refusal.empty()) return "error: " + refusal;
  if (auto answer = responder::run_transport_command(*responder_, command)) return *answer;
  if (command.word == "help") return help_text() + "ok";
  if (command.word != "stats") {
    return "error: no command '" + std::string(command.word) + "'; help lists them";
  }
  responder::CounterText visitor;
  responder_->visit_counters(visitor);
  return visitor.text + "ok";
}

}  // namespace nfsrdma::lab::proxy
