// The server side of the transports, RPC-over-RDMA and TCP: listens, keeps connections,
// follows the fault script.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/faults/faulty_fabric.h"
#include "tests/faults/wire_faults.h"
#include "tests/responder/fabric/listening_fabric.h"
#include "tests/responder/transport/core.h"
#include "tests/responder/transport/rdma_connection.h"
#include "tests/responder/transport/tcp_connection.h"
#include "transport/base/reactor.h"

namespace nfsrdma::responder {

/// Serves one Service to any number of clients on one reactor. Destroying it ends all connections
/// at once; close() ends them in order. Reactor, fabric and service must outlive it. Reactor's
/// thread only.
class Responder final : public fabric::ListenHandler,
                        public ConnectionOwner,
                        public TcpConnectionOwner {
 public:
  /// `pools` must have been made with the same config, and must outlive the fabric.
  static Result<std::unique_ptr<Responder>> create(Reactor& reactor,
                                                   fabric::ListeningFabric& fabric,
                                                   Service& service, const ResponderConfig& config,
                                                   ResponderPools& pools);
  ~Responder() override { abort(); }

  /// Listens on one more address; returns it with the port the system chose, if 0 was asked.
  Result<net::Address> listen(const net::Address& address);
  /// The same for TCP.
  Result<net::Address> listen_tcp(const net::Address& address);

  /// Adds, removes, forgets rules of the fault script; takes effect at once.
  Result<std::uint32_t> add_fault(std::string_view spec);
  bool remove_fault(std::uint32_t id);
  void clear_faults();
  const FaultScript& faults() const { return core_.faults; }

  /// Calls that arrive from now on wait until resume().
  void stop_answering() { core_.stop(); }
  void resume_answering() { core_.resume(); }

  /// Version 2, on all its connections: asks the clients for another receive size; raises the own
  /// one, unasked, as soon as older receives are used up.
  void request_receive_size(std::uint32_t size);
  void raise_receive_size(std::uint32_t size);

  /// Breaks all connections; the responder goes on listening.
  void disconnect_all(const char* why);
  /// Stops listening and breaks all connections; `done` is called when none is left.
  void close(std::function<void()> done);
  /// Ends all connections now, without a word to the peers. The service may go then: it is not
  /// called any more, and may still drop the calls it has.
  void abort();

  std::size_t connections() const { return connections_.size() + tcp_connections_.size(); }
  const Counters& counters() const { return core_.counters; }
  void visit_counters(CounterVisitor& visitor) const;

 private:
  Responder(Reactor& reactor, fabric::ListeningFabric& fabric, const ResponderConfig& config,
            Service& service, ResponderPools& pools);

  void on_connect_request(std::unique_ptr<fabric::ConnectRequest> request) override;
  void on_connection_ended(RdmaConnection& connection) override;
  void on_connection_ended(TcpConnection& connection) override;
  void on_tcp_socket(UniqueFd socket);
  /// Where the own listener has to be for clients that connect there.
  net::Address behind(const net::Address& address) const;
  /// Puts WireFaults in front of it where rules with wire= are wanted.
  Result<net::Address> stand_before(const net::Address& address, const net::Address& own,
                                    faults::Framing framing);
  bool full() const { return connections() >= core_.config.max_connections; }
  /// Ends the oldest connection that serves no session. False: there is none.
  bool make_room();
  /// Whether one more connection can be had; says in the log when not.
  bool has_room(const std::string& peer);
  void report_if_closed();
  void arm_periodic_disconnect();

  Reactor& reactor_;
  Core core_;
  faults::FaultyFabric fabric_;  ///< applies the script to posted work
  std::vector<std::unique_ptr<RdmaConnection>> connections_;
  std::vector<std::unique_ptr<fabric::Listener>> listeners_;
  std::vector<std::unique_ptr<faults::WireFaults>> wires_;  ///< before the listeners
  TcpCalls tcp_calls_;
  std::vector<std::unique_ptr<TcpConnection>> tcp_connections_;
  std::vector<std::unique_ptr<TcpListener>> tcp_listeners_;
  std::uint64_t last_connection_id_ = 0;
  TimePoint rejection_logged_{};
  std::function<void()> closed_;
  Timer disconnect_timer_;
};

}  // namespace nfsrdma::responder
