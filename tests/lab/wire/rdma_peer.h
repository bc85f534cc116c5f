// A connection of an RDMA provider: the userspace one, or that for devices.
#pragma once

#include <vector>

#include "tests/lab/wire/network.h"
#include "tests/lab/wire/peer.h"

namespace nfsrdma::lab {

class RdmaPeer final : public Peer, private fabric::EndpointHandler {
 public:
  static Result<std::unique_ptr<Peer>> connect(Network& network, const PeerOptions& options);
  ~RdmaPeer() override;

  Carrier carrier() const override { return carrier_; }
  Result<void> send(std::span<const std::byte> bytes) override;
  Result<Exposed*> expose(std::size_t size, fabric::Access access) override;
  void close(bool orderly) override;
  std::uint64_t counter(std::string_view name) const override;

 private:
  struct Receive : fabric::ReceiveBuffer {
    Buffer slot;
  };

  RdmaPeer(Network& network, const PeerOptions& options)
      : network_(network),
        provider_(network.provider(options.carrier)),
        carrier_(options.carrier),
        hold_receives_(options.hold_receives) {}
  Result<void> check_invalidation(const PeerOptions& options);
  Result<void> start(const PeerOptions& options);
  void forget_leases();

  // EndpointHandler
  void on_established(const fabric::ConnectionInfo& info) override;
  void on_receive(fabric::ReceiveBuffer& buffer, std::size_t length,
                  std::optional<std::uint32_t> invalidated) override;
  void on_send_done(void* context) override;
  void on_invalidated(fabric::Lease&) override {}
  void on_read_done(void*) override {}
  void on_disconnected(const Error& reason) override;

  Network& network_;
  Network::Provider& provider_;
  const Carrier carrier_;
  const bool hold_receives_;
  std::deque<std::unique_ptr<Exposed>> exposed_;
  std::deque<std::unique_ptr<Receive>> receives_;
  std::deque<std::unique_ptr<Buffer>> sends_;
  std::unique_ptr<fabric::Endpoint> endpoint_;
};

}  // namespace nfsrdma::lab
