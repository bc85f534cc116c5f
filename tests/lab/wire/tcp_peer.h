// A plain TCP connection: RPC records, or bytes.
#pragma once

#include "tests/lab/wire/network.h"
#include "tests/lab/wire/peer.h"
#include "transport/net/tcp_stream.h"

namespace nfsrdma::lab {

class TcpPeer final : public Peer, private FdHandler {
 public:
  static Result<std::unique_ptr<Peer>> connect(Network& network, const PeerOptions& options);
  ~TcpPeer() override;

  Carrier carrier() const override { return carrier_; }
  Result<void> send(std::span<const std::byte> bytes) override;
  Result<Exposed*> expose(std::size_t size, fabric::Access access) override;
  void close(bool orderly) override;
  std::uint64_t counter(std::string_view) const override { return 0; }

 private:
  /// A record that a server sends at most; a longer one ends the connection.
  static constexpr std::size_t kMaxRecord = 64 * 1024 * 1024;

  TcpPeer(Network& network, const PeerOptions& options)
      : network_(network), carrier_(options.carrier) {}
  Result<void> start(const fabric::Address& address);
  void on_ready(std::uint32_t events) override;
  void finish_connect();
  void read_some();
  void write_some();
  void find_records();
  void end(Error reason);

  Network& network_;
  const Carrier carrier_;
  net::StreamCounters counters_;
  UniqueFd connecting_;
  int fd_ = -1;
  std::unique_ptr<net::TcpStream> stream_;
  Bytes out_;     // not taken by the kernel yet
  Bytes in_;      // not understood yet
  Bytes record_;  // fragments of the present one
};

}  // namespace nfsrdma::lab
