// One direction of a TCP connection, put in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "tests/lab/capture/ip_packet.h"

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

/// Puts segments in order, drops what came twice, and notes what the capture has lost: what the
/// peer has acknowledged, or what stays missing for too long. Holds at most kMostHeld bytes.
class TcpStream {
 public:
  static constexpr std::size_t kMostHeld = 16 << 20;
  /// Acknowledgements of something missing before it is given up: two interfaces, or two CPUs, may
  /// write a capture in another order.
  static constexpr int kPatience = 64;

  explicit TcpStream(ByteConsumer& consumer) : consumer_(consumer) {}

  void add(const IpPacket& segment);
  /// What the other side says that it has.
  void acknowledged(std::uint32_t sequence, Moment at);
  /// Nothing more comes: what is held is handed over with its gaps.
  void finish(Moment at);
  bool started() const { return started_; }

 private:
  struct Held {
    std::vector<std::byte> bytes;
    Moment at;
  };

  std::uint64_t unwrap(std::uint32_t sequence) const;
  void take(std::uint64_t at_sequence, std::span<const std::byte> bytes, Moment at);
  void hold(std::uint64_t at_sequence, std::span<const std::byte> bytes, Moment at);
  void hand_over_held();
  void skip_gap(Moment at);

  ByteConsumer& consumer_;
  bool started_ = false;
  std::uint64_t next_ = 0;
  std::map<std::uint64_t, Held> held_;
  std::size_t held_bytes_ = 0;
  int impatience_ = 0;
};

}  // namespace nfsrdma::lab
