// Both directions of a TCP connection, put in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "tests/lab/capture/ip_packet.h"
#include "tests/lab/capture/wire.h"

namespace nfsrdma::lab {

/// Gets the bytes of one direction.
class ByteConsumer {
 public:
  virtual ~ByteConsumer() = default;
  /// The next bytes. `bytes` begins where a segment of TCP begins, which is where a parser that has
  /// lost its place can look for a message.
  virtual void on_bytes(std::span<const std::byte> bytes, Moment at) = 0;
  /// So many bytes are not in the capture (0: it is not known how many).
  virtual void on_gap(std::uint64_t bytes, Moment at) = 0;
};

/// Puts segments in order and drops what came twice. While something is missing everything waits,
/// of both directions: what one side says behind a hole must not be judged by what the other has
/// said until then only. What the capture has lost is noted: what the peer has acknowledged, or
/// what stays missing for too long.
class TcpStreams {
 public:
  /// What may wait.
  static constexpr std::size_t kMostHeld = 16 << 20;
  static constexpr std::size_t kMostSegments = 4096;
  /// Packets behind an acknowledgement of what is missing before it is given up: two interfaces, or
  /// two CPUs, may write a capture in another order.
  static constexpr std::size_t kPatience = 64;

  TcpStreams(ByteConsumer& client, ByteConsumer& server)
      : streams_{Stream{&client}, Stream{&server}} {}

  void add(Side from, const IpPacket& segment);
  /// Nothing more comes: what waits is handed over with its gaps.
  void finish(Moment at);

 private:
  struct Stream {
    ByteConsumer* consumer = nullptr;
    bool started = false;
    std::uint64_t next = 0;
    std::uint64_t acknowledged = 0;  ///< by the other side
  };
  struct Segment {
    Side from = Side::client;
    Moment at;
    std::uint64_t sequence = 0;
    std::uint64_t acknowledged = 0;  ///< what its sender has of the other side; 0: not known
    std::vector<std::byte> bytes;
  };

  Stream& stream(Side side) { return streams_[index_of(side)]; }
  void start(Stream& stream, const IpPacket& segment);
  bool in_order(const Segment& segment) { return segment.sequence <= stream(segment.from).next; }
  bool fits(const Segment& segment);
  Side lacking();
  void take(const Segment& segment);
  void take_waiting();
  void bring_forward(Side side);
  void give_up(Moment at);

  Stream streams_[2];
  std::deque<Segment> waiting_;  // the first of them does not fit
  std::size_t waiting_bytes_ = 0;
  std::size_t impatience_ = 0;
};

}  // namespace nfsrdma::lab
