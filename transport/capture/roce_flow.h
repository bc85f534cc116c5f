// A connection over an RDMA device, as RoCEv2 packets that are made here: the device sends its own,
// which no program sees. InfiniBand Architecture, chapters 9 and 12, annexes A17 and A18.
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "transport/capture/sink.h"

namespace nfsrdma::capture {

/// Addresses, messages, handles, lengths and data are real. Queue pair numbers, sequence numbers
/// from 0 on, a path MTU of 4096 bytes and UDP source ports are made up; there are no
/// acknowledgements, and ICRCs are zero. Belongs to the thread of the connection.
class RoceFlow {
 public:
  enum class From : std::uint8_t { local, peer };
  using Pieces = std::span<const std::span<const std::byte>>;

  /// A place in the memory of the other side.
  struct Place {
    std::uint32_t key = 0;
    std::uint64_t address = 0;
  };

  /// As Sink::open_flow(): null when the connection is not to be recorded. The sink outlives it.
  static std::unique_ptr<RoceFlow> open(Sink& sink, const sockaddr& local, const sockaddr& peer,
                                        bool initiator);

  /// The connection manager's REQ and REP, with the private data of initiator and responder.
  void connected(std::span<const std::byte> request, std::span<const std::byte> reply);
  void send(From from, Pieces message, std::optional<std::uint32_t> invalidate);
  void write(From from, Place to, Pieces data);
  /// RDMA Read of `length` bytes; returns the sequence number for read_response().
  std::uint32_t read_request(From from, Place place, std::uint32_t length);
  void read_response(From responder, std::uint32_t sequence, std::span<const std::byte> data);
  /// Adds a comment to the next packet.
  void comment(std::string text) { flow_->comment(std::move(text)); }

 private:
  struct Packet;

  RoceFlow(std::unique_ptr<Flow> flow, const sockaddr& local, const sockaddr& peer, bool initiator);
  void management(From from, std::uint16_t attribute, std::span<const std::byte> message);
  void packet(From from, const Packet& packet);
  void put(From from, std::span<const iovec> pieces);
  std::uint32_t pair_of(From side) const { return pairs_[static_cast<std::size_t>(side)]; }
  std::uint32_t& sequence_of(From side) { return sequences_[static_cast<std::size_t>(side)]; }

  const std::unique_ptr<Flow> flow_;
  sockaddr_storage ends_[2];  // by From
  const bool initiator_;
  std::uint32_t pairs_[2];
  std::uint32_t sequences_[2] = {0, 0};
};

}  // namespace nfsrdma::capture
