// One direction of an iWARP connection: MPA startup frame, FPDUs, DDP segments, RDMAP messages.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tests/lab/capture/fpdu_parser.h"
#include "tests/lab/capture/tcp_stream.h"
#include "tests/lab/capture/wire.h"

namespace nfsrdma::lab {

/// What the startup frames of both sides say.
struct MpaTerms {
  std::optional<iwarp::StartupFrame> frame[2];  ///< by Side

  /// A side says with M that it wants markers in what it receives (RFC 5044 section 7.1.1).
  bool markers_from(Side side) const {
    const auto& receiver = frame[index_of(other(side))];
    return receiver && receiver->markers;
  }
  bool crc() const { return (frame[0] && frame[0]->crc) || (frame[1] && frame[1]->crc); }
};

/// True: these bytes begin a connection of iWARP.
bool begins_like_mpa(std::span<const std::byte> bytes);

/// Gives the observer whole messages. Belongs to its connection; terms and observer outlive it.
class IwarpStream final : public ByteConsumer {
 public:
  /// Of an untagged message; more than any receiver of NFS/RDMA posts.
  static constexpr std::size_t kMostMessage = 1 << 20;

  IwarpStream(MpaTerms& terms, Side side, WireObserver& observer)
      : terms_(terms), side_(side), observer_(observer) {}

  void on_bytes(std::span<const std::byte> bytes, Moment at) override;
  void on_gap(std::uint64_t bytes, Moment at) override;

 private:
  enum class State { startup, fpdus, lost, nonsense };
  /// Queue numbers of RDMAP: Sends, Read Requests, Terminates.
  static constexpr std::size_t kQueues = 3;
  struct Queue {
    std::optional<std::uint32_t> msn;  ///< of the message that is coming in; nothing behind a gap
    std::vector<std::byte> message;
    bool overflown = false;
  };

  void take_startup(Moment at);
  void take_fpdus(std::span<const std::byte> bytes, Moment at);
  void segment(const Fpdu& fpdu, Moment at);
  void untagged(const SegmentSeen& seen, std::span<const std::byte> payload);
  void deliver(const SegmentSeen& seen, Queue& queue);
  void give_up(const char* what, Moment at);

  MpaTerms& terms_;
  Side side_;
  WireObserver& observer_;
  State state_ = State::startup;
  std::vector<std::byte> startup_;
  std::optional<FpduParser> parser_;
  std::array<Queue, kQueues> queues_{{{1, {}, false}, {1, {}, false}, {1, {}, false}}};
  bool terminated_ = false;
};

}  // namespace nfsrdma::lab
