// One connection: it joins the parts of this folder and keeps the promises of fabric.h.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "transport/base/reactor.h"
#include "transport/fabric/fabric.h"
#include "transport/fabric/iwarp/counters.h"
#include "transport/fabric/iwarp/fpdu_reader.h"
#include "transport/fabric/iwarp/initiator.h"
#include "transport/fabric/iwarp/mpa_negotiation.h"
#include "transport/fabric/iwarp/peer_probe.h"
#include "transport/fabric/iwarp/peer_quirks.h"
#include "transport/fabric/iwarp/read_queue.h"
#include "transport/fabric/iwarp/receive_path.h"
#include "transport/fabric/iwarp/send_queue.h"
#include "transport/fabric/iwarp/stag_table.h"
#include "transport/fabric/iwarp/transmitter.h"
#include "transport/net/tcp_stream.h"

namespace nfsrdma::fabric::iwarp {

class IwarpEndpoint final : public Endpoint,
                            private FdHandler,
                            private ReceiveEvents,
                            private Initiator::Owner {
 public:
  IwarpEndpoint(Reactor& reactor, std::shared_ptr<StagTable> stags, EndpointHandler& handler);
  ~IwarpEndpoint() override;

  /// Initiator: starts connecting. `quirks` is of all connections to this peer.
  Result<void> connect(const Address& peer, Terms terms, const EndpointOptions& options,
                       std::shared_ptr<PeerQuirks> quirks);
  /// Responder: takes over a connection whose MPA Request was read; `reply` goes out first.
  Result<void> adopt(UniqueFd socket, std::unique_ptr<capture::Flow> flow,
                     std::span<const std::byte> reply, const Agreement& agreement);

  Result<void> post_receive(ReceiveBuffer& buffer) override;
  Result<void> post_send(const SendWork& work) override;
  void hurry() override;
  Result<void> prepare(Lease& lease, std::span<std::byte> memory, Access access) override;
  void cancel(Lease& lease) override;
  bool invalidate(Lease& lease) override;
  std::optional<std::size_t> placed(const Lease& lease) const override {
    return stags_->placed(lease);
  }
  bool remote_invalidation_safe() const override { return true; }
  Result<void> post_write(std::span<const std::span<const std::byte>> pieces,
                          const Segment& to) override;
  Result<void> post_read(std::span<std::byte> into, const Segment& from, void* context) override;
  void disconnect(Error reason) override;
  void visit_counters(CounterVisitor& visitor) const override { counters_.visit(visitor); }

 private:
  enum class Phase : std::uint8_t {
    connecting,
    open,
    closing,  ///< nothing is received any more; posted work is still written
    closed,
  };

  // FdHandler, Initiator::Owner, ReceiveEvents
  void on_ready(std::uint32_t events) override;
  void on_connected(std::unique_ptr<net::TcpStream> stream, const Agreement& agreement,
                    const StartupFrame& reply) override;
  void on_connect_failed(Error reason) override;
  void on_first_fpdu() override;
  void on_message(ReceiveBuffer& buffer, std::size_t length,
                  std::optional<std::uint32_t> invalidated) override;
  void on_read_requested() override {}
  void on_read_done(void* context) override;
  void on_lease_released(Lease& lease) override;
  void on_terminated(const TerminateCode& code) override;

  void configure(const Agreement& agreement);
  Result<void> check_open() const;
  void receive();
  void receive_last_words();
  void drain();
  void turn();
  void flush();
  void complete();
  void watch_for_write(bool wanted);
  void send_peer_probe();

  void violated(const Violation& violation);
  void stream_ended();
  void stream_failed(int error_number);
  void write_failed(int error_number);
  /// Sends pending messages, waits a little for the peer to close, then finishes.
  void start_closing(Error reason);
  void finish_soon(Error reason);
  void finish();
  void release_everything();

  Reactor& reactor_;
  std::shared_ptr<StagTable> stags_;
  EndpointHandler& handler_;
  Counters counters_;
  SendQueue sends_;
  OutboundReads reads_;
  InboundReads inbound_;
  ReceivePath receive_path_;
  FpduReader reader_;
  Transmitter transmitter_;
  Ring<Lease*> invalidated_;  // to be told
  Deferred turn_;
  Timer hold_timer_;  // of an unhurried message; runs on when that has gone, which is cheaper
  Timer close_timer_;
  PeerProbe peer_probe_;
  std::unique_ptr<Initiator> initiator_;
  std::shared_ptr<PeerQuirks> quirks_;  // initiator only
  std::unique_ptr<net::TcpStream> stream_;
  std::string peer_;  // for logs; a socket that was reset does not tell it any more
  Phase phase_ = Phase::connecting;
  bool in_event_ = false;  // a turn() follows anyway
  bool watching_write_ = false;
  bool write_finished_ = false;
  bool finishing_ = false;
  int write_error_ = 0;  // errno of the write that failed; nothing is sent any more
  Error reason_;
};

}  // namespace nfsrdma::fabric::iwarp
