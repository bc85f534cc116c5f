// Connecting: TCP, then MPA startup with revision 2, then, only if the peer answers with revision
// 1, all over again with that on a new TCP connection (RFC 6581 section 5).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "transport/base/reactor.h"
#include "transport/fabric/fabric.h"
#include "transport/fabric/iwarp/counters.h"
#include "transport/fabric/iwarp/mpa_frame.h"
#include "transport/fabric/iwarp/mpa_negotiation.h"
#include "transport/net/tcp_stream.h"

namespace nfsrdma::fabric::iwarp {

class Initiator final : private FdHandler {
 public:
  /// Is told once, from the reactor; must not destroy the Initiator meanwhile.
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void on_connected(std::unique_ptr<net::TcpStream> stream, const Agreement& agreement,
                              const StartupFrame& reply) = 0;
    virtual void on_connect_failed(Error reason) = 0;
  };

  Initiator(Reactor& reactor, Owner& owner, Counters& counters, const Address& peer, Terms terms,
            capture::Sink* capture);
  ~Initiator() override;

  Result<void> start(Duration timeout);

 private:
  enum class Phase : std::uint8_t { connecting, requesting, awaiting_reply };

  void on_ready(std::uint32_t events) override;
  Result<void> open_connection(std::uint8_t revision);
  void close_connection();
  Result<void> step();
  Result<void> finish_tcp_connect();
  Result<void> send_request();
  Result<void> read_reply();
  void finish();
  void give_up(Error reason);

  Reactor& reactor_;
  Owner& owner_;
  Counters& counters_;
  Address peer_;
  Terms terms_;
  capture::Sink* capture_;
  Timer timer_;
  Deferred soon_;  // to report what happened within start()
  UniqueFd connecting_;
  std::unique_ptr<net::TcpStream> stream_;
  std::uint8_t revision_ = kMpaRevision2;
  Phase phase_ = Phase::connecting;
  std::vector<std::byte> request_;
  std::size_t request_sent_ = 0;
  std::unique_ptr<StartupReader> reader_;
  Agreement agreement_;
  bool done_ = false;
  int early_error_ = 0;  // of connect(2), when it failed at once
};

}  // namespace nfsrdma::fabric::iwarp
