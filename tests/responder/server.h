// A whole nfsrdma server in one object: provider, NFSv4.1 service, RPC-over-RDMA responder, control
// socket, capture. For the nfsrdma-responder program and for tests that run one in-process.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/responder/fabric/listening_fabric.h"
#include "tests/responder/nfs/config.h"
#include "tests/responder/nfs/nfs_service.h"
#include "tests/responder/transport/control_socket.h"
#include "tests/responder/transport/responder.h"
#include "transport/base/reactor.h"

namespace nfsrdma::responder {

inline constexpr std::uint16_t kDefaultPort = 20049;

struct ServerOptions {
  ServiceConfig service;
  ResponderConfig transport;
  std::vector<std::string> addresses = {"127.0.0.1"};  ///< names or literals, IPv4 and IPv6
  std::uint16_t port = kDefaultPort;                   ///< 0: any; the same on all addresses
  bool verbs = false;                                  ///< RDMA devices instead of iwarp
  std::optional<std::uint16_t> tcp_port;               ///< for TCP, too; 0: any
  std::vector<std::string> faults;                     ///< see transport/fault_script.h
  std::string control_path;                            ///< empty: no control socket
  std::string capture_path;                            ///< empty: no capture
};

/// Belongs to the thread of its reactor, which must outlive it. Everything is destroyed in reverse
/// order of creation: connections first, memory last.
class Server {
 public:
  /// Blocks while addresses are resolved; call it before the reactor runs.
  static Result<std::unique_ptr<Server>> create(Reactor& reactor, const ServerOptions& options);
  ~Server();

  /// The first address with the port that was chosen.
  const fabric::Address& address() const { return address_; }
  std::uint16_t port() const;
  /// The same for TCP; nothing when it is not served.
  const std::optional<fabric::Address>& tcp_address() const { return tcp_address_; }
  Responder& responder() { return *responder_; }
  NfsService& service() { return *service_; }
  void visit_counters(CounterVisitor& visitor) const;
  /// All counters, a line "NAME VALUE" each.
  std::string counters_text() const;
  /// Carries out a line of the control socket. Answers "ok", "ok ID" or "error: REASON"; `stats`
  /// and `help` answer several lines and then "ok". man/nfsrdma-responder.8 says what there is.
  std::string run_command(const std::string& line);
  /// Ends all connections; `done` is called when none is left.
  void close(std::function<void()> done);

 private:
  explicit Server(Reactor& reactor);
  Result<void> start(const ServerOptions& options);
  Result<void> listen(const ServerOptions& options);
  Result<void> listen_tcp(const ServerOptions& options);

  Reactor& reactor_;
  std::unique_ptr<capture::Sink> capture_;
  ResponderPools pools_;
  std::unique_ptr<fabric::ListeningFabric> fabric_;
  std::unique_ptr<NfsService> service_;
  std::unique_ptr<Responder> responder_;
  std::unique_ptr<ControlSocket> control_;
  fabric::Address address_;
  std::optional<fabric::Address> tcp_address_;
};

}  // namespace nfsrdma::responder
