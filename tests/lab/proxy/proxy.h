// nfsrdma-lab proxy: a server to its clients, a client to its server.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/lab/proxy/relay.h"
#include "tests/lab/proxy/upstream.h"
#include "tests/responder/transport/control_socket.h"
#include "tests/responder/transport/responder.h"

namespace nfsrdma::lab::proxy {

struct ProxyOptions {
  net::Address listen;
  Carrier listen_carrier = Carrier::iwarp;
  net::Address server;
  Carrier server_carrier = Carrier::iwarp;
  FabricMaker verbs;  ///< see make_provider
  bool crc = true;
  bool wire_faults = false;  ///< rules with wire= can be met
  std::size_t inline_size = 4096;
  std::vector<std::string> faults;  ///< see tests/responder/transport/fault_script.h
  std::string control_path;         ///< empty: no control socket
  std::string client_capture;       ///< empty: none
  std::string server_capture;
  std::string rpc_capture;
};

/// The responder's transport with a service that forwards. Belongs to the thread of its reactor,
/// which must outlive it. Destroyed when close() is done: a connection to the server that is up
/// still has memory of it.
class Proxy final : private responder::Service {
 public:
  static Result<std::unique_ptr<Proxy>> create(Reactor& reactor, const ProxyOptions& options);
  ~Proxy() override;

  /// Where it listens, with the port that was chosen.
  const net::Address& address() const { return address_; }
  /// Carries out a line of the control socket; `help` answers what there is.
  std::string run_command(const std::string& line);
  /// Ends all connections; `done` is called when none is left, on either side.
  void close(std::function<void()> done);

 private:
  explicit Proxy(Reactor& reactor) : reactor_(reactor) {}
  Result<void> start(const ProxyOptions& options);
  Result<void> open_captures(const ProxyOptions& options);
  Result<void> listen(const ProxyOptions& options);

  void handle(responder::ServerCall& call) override;
  void on_connection_closed(responder::Connection& connection) override;
  Relay* relay_of(const responder::Connection& connection);
  void drop(Relay& relay);
  void report_if_closed();

  Reactor& reactor_;
  std::unique_ptr<capture::Sink> client_capture_;
  std::unique_ptr<capture::Sink> server_capture_;
  std::unique_ptr<capture::Sink> rpc_capture_;
  UpstreamOptions upstream_;
  responder::ResponderPools pools_;
  std::unique_ptr<fabric::ListeningFabric> fabric_;
  std::unique_ptr<responder::Responder> responder_;
  std::vector<std::unique_ptr<Relay>> relays_;
  std::unique_ptr<responder::ControlSocket> control_;
  net::Address address_;
  bool clients_gone_ = false;
  std::function<void()> closed_;
};

}  // namespace nfsrdma::lab::proxy
