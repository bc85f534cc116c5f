// One TCP connection of a capture: which protocol it carries is told by its first bytes, or by the
// first that look like it where the capture began later.
#pragma once

#include <memory>
#include <vector>

#include "tests/lab/capture/iwarp_stream.h"
#include "tests/lab/capture/record_stream.h"
#include "tests/lab/capture/tcp_stream.h"
#include "tests/lab/capture/wire.h"

namespace nfsrdma::lab {

class TcpConnection {
 public:
  /// `info.lower_layer` and `info.number` are not known yet. `factory` and `connections`, the
  /// number of those that were told to it, outlive the connection.
  TcpConnection(WireObserverFactory& factory, std::size_t& connections, const ConnectionInfo& info);
  TcpConnection(const TcpConnection&) = delete;
  TcpConnection& operator=(const TcpConnection&) = delete;

  void add(const IpPacket& packet);
  /// The end of the connection, or of the capture. Harmless when it has ended.
  void finish(Moment at);
  bool finished() const { return finished_; }
  /// Whether a SYN begins another connection between the same ports.
  bool is_over(const TcpHeader& syn) const {
    return finished_ || (observer_ && syn.sequence != first_sequence_);
  }

 private:
  /// Undecided, it keeps what came; then it passes all on.
  class Direction final : public ByteConsumer {
   public:
    explicit Direction(TcpConnection& owner) : owner_(owner) {}
    void on_bytes(std::span<const std::byte> bytes, Moment at) override;
    void on_gap(std::uint64_t bytes, Moment at) override;
    void decide(std::unique_ptr<ByteConsumer> parser, Moment at);

   private:
    TcpConnection& owner_;
    bool gap_ = false;
    std::vector<std::byte> early_;
    std::unique_ptr<ByteConsumer> parser_;
  };

  void look_at(std::span<const std::byte> bytes, bool behind_gap, Moment at);
  void decide(LowerLayer layer, Moment at);

  WireObserverFactory& factory_;
  std::size_t& connections_;
  ConnectionInfo info_;
  MpaTerms terms_;
  std::unique_ptr<WireObserver> observer_;
  Direction client_{*this};
  Direction server_{*this};
  TcpStreams streams_{client_, server_};
  bool fin_[2] = {false, false};
  std::uint32_t first_sequence_ = 0;  // of the client's SYN
  bool finished_ = false;
};

}  // namespace nfsrdma::lab
