#include "tests/responder/server.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <utility>

#include "tests/responder/nfs/fs/credentials.h"
#include "tests/responder/transport/fault_kinds.h"
#include "transport/base/log.h"
#include "transport/capture/sink.h"
#include "transport/fabric/verbs/verbs.h"

namespace nfsrdma::responder {
namespace {

std::uint16_t port_of(const fabric::Address& address) {
  const auto& storage = address.storage;
  const bool v6 = storage.ss_family == AF_INET6;
  return ntohs(v6 ? reinterpret_cast<const sockaddr_in6&>(storage).sin6_port
                  : reinterpret_cast<const sockaddr_in&>(storage).sin_port);
}

class TextVisitor final : public CounterVisitor {
 public:
  void visit(std::string_view name, std::uint64_t value) override {
    text += std::string(name) + " " + std::to_string(value) + "\n";
  }
  std::string text;
};

std::string add_fault(Responder& responder, const std::string& spec) {
  auto id = responder.add_fault(spec);
  if (!id) return "error: " + id.error().message();
  return "ok " + std::to_string(*id);
}

std::string remove_fault(Responder& responder, const std::string& text) {
  std::uint32_t id = 0;
  std::from_chars(text.data(), text.data() + text.size(), id);
  return responder.remove_fault(id) ? "ok" : "error: no such rule";
}

void restart_service(NfsService& service, const std::string& grace) {
  std::uint32_t seconds = 0;
  const char* end = grace.data() + grace.size();
  if (std::from_chars(grace.data(), end, seconds).ec == std::errc{}) {
    service.restart(seconds);
  } else {
    service.restart();
  }
}

std::string recall(NfsService& service, const std::string& keep) {
  std::uint32_t number = 0;
  if (std::from_chars(keep.data(), keep.data() + keep.size(), number).ec != std::errc{}) {
    return "ok " + std::to_string(service.recall_delegations());
  }
  service.recall_any_delegations(number);
  return "ok";
}

std::string change_receive_size(Responder& responder, const std::string& command,
                                const std::string& text) {
  std::uint32_t size = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), size);
  if (parsed.ec != std::errc()) return "error: no size";
  if (command == "request") {
    responder.request_receive_size(size);
  } else {
    responder.raise_receive_size(size);
  }
  return "ok";
}

/// A line for each kind of fault, as a rule has it, and for each other command; then the answer.
std::string help() {
  std::string text;
  for (const auto& kind : fault_kinds()) text += "fault " + kind + "\n";
  for (const std::string_view command :
       {"remove ID", "clear", "stop", "continue", "disconnect", "restart [S]", "reboot [S]",
        "request N", "raise N", "recall [N]", "revoke-locks", "forget-sessions", "stats", "help"}) {
    text += std::string(command) + "\n";
  }
  return text + "ok";
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
    transport.capture = capture_.get();
  }
  if (options.verbs) keep_own_identity();
  auto pools = ResponderPools::create(transport);
  if (!pools) return fail_from(pools);
  pools_ = std::move(*pools);
  fabric_ =
      options.verbs ? fabric::make_verbs_fabric(reactor_) : fabric::make_iwarp_fabric(reactor_);
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
  TextVisitor visitor;
  visit_counters(visitor);
  return visitor.text;
}

std::string Server::run_command(const std::string& line) {
  const auto space = std::min(line.find(' '), line.size());
  const std::string command = line.substr(0, space);
  const std::string argument = line.substr(std::min(space + 1, line.size()));
  if (command == "fault") return add_fault(*responder_, argument);
  if (command == "remove") return remove_fault(*responder_, argument);
  if (command == "request" || command == "raise") {
    return change_receive_size(*responder_, command, argument);
  }
  if (command == "revoke-locks") return "ok " + std::to_string(service_->revoke_locks());
  if (command == "recall") return recall(*service_, argument);
  if (command == "stats") return counters_text() + "ok";
  if (command == "help") return help();
  if (command == "clear") {
    responder_->clear_faults();
  } else if (command == "stop") {
    responder_->stop_answering();
  } else if (command == "continue") {
    responder_->resume_answering();
  } else if (command == "disconnect") {
    responder_->disconnect_all("control socket");
  } else if (command == "forget-sessions") {
    service_->destroy_sessions();
  } else if (command == "restart" || command == "reboot") {
    if (command == "reboot") responder_->disconnect_all("reboot");
    restart_service(*service_, argument);
  } else {
    return "error: no command '" + command + "'; help lists them";
  }
  return "ok";
}

void Server::close(std::function<void()> done) { responder_->close(std::move(done)); }

}  // namespace nfsrdma::responder
