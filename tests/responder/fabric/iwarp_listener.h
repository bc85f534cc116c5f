// Accepting: a listening socket, and the MPA startup of each connection until its Request is whole.
#pragma once

#include <list>
#include <memory>
#include <vector>

#include "tests/responder/fabric/listening_fabric.h"
#include "transport/base/reactor.h"
#include "transport/fabric/iwarp/counters.h"
#include "transport/fabric/iwarp/mpa_frame.h"
#include "transport/fabric/iwarp/stag_table.h"
#include "transport/net/tcp_stream.h"

namespace nfsrdma::fabric::iwarp {

class IwarpListener final : public Listener, private FdHandler {
 public:
  IwarpListener(Reactor& reactor, std::shared_ptr<StagTable> stags, ListenHandler& handler);
  ~IwarpListener() override;

  Result<void> start(const Address& local);
  Address address() const override { return net::local_address(socket_.get()); }

 private:
  class Handshake;

  void on_ready(std::uint32_t events) override;
  void pause();
  void resume();
  void add(UniqueFd connection);
  /// The handshake's Request is whole, or it failed: it leaves the list.
  void completed(Handshake& handshake, bool usable);

  Reactor& reactor_;
  std::shared_ptr<StagTable> stags_;
  ListenHandler& handler_;
  UniqueFd socket_;
  Timer resume_timer_;
  std::list<std::unique_ptr<Handshake>> handshakes_;
};

}  // namespace nfsrdma::fabric::iwarp
