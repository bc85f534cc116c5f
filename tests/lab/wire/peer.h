// One connection to a server, on which anything may be sent. Nothing here knows a rule.
//
// Threading: everything belongs to the reactor of the Network that made it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "tests/lab/wire/header.h"
#include "transport/base/buffer.h"
#include "transport/base/result.h"
#include "transport/fabric/fabric.h"
#include "transport/rdma/private_data.h"

namespace nfsrdma::lab {

enum class Carrier : std::uint8_t {
  iwarp,   ///< messages by Send; memory may be exposed
  verbs,   ///< the same through an RDMA device
  tcp,     ///< RPC messages in records (RFC 5531 section 11)
  socket,  ///< bytes of a TCP connection, whatever they mean
};

/// Whether messages are those of RPC-over-RDMA, and may have chunks.
constexpr bool has_rdma(Carrier carrier) {
  return carrier == Carrier::iwarp || carrier == Carrier::verbs;
}

/// The step of an error: what is asked for lies below what a device lets a program do or see.
inline constexpr const char* kNotOverVerbs = "not over verbs";

/// A message that has arrived. Of a socket: the bytes of one read.
struct Arrived {
  Bytes bytes;
  std::optional<std::uint32_t> invalidated;  ///< the handle that came with it
  std::uint64_t frame = 0;                   ///< its packet in the capture; 0: there is none
};

/// Memory of this side that the server may reach until the connection has ended.
struct Exposed {
  Buffer slot;  ///< what the memory is part of
  std::span<std::byte> memory;
  fabric::Lease lease;

  /// As the header says it: no longer than the memory, which may have no byte.
  fabric::Segment segment() const {
    return {lease.segment.handle, static_cast<std::uint32_t>(memory.size()), lease.segment.offset};
  }
};

struct PeerOptions {
  Carrier carrier = Carrier::iwarp;
  fabric::Address address;
  /// What the MPA startup or the connection manager carries (RFC 8797); empty: nothing.
  Bytes private_data;
  bool crc = true;  ///< of iwarp
  /// Receives that are posted, and their size in bytes.
  std::size_t receives = 64;
  std::size_t receive_size = 64 * 1024;
  /// A receive that was used is not posted again.
  bool hold_receives = false;
};

class Peer {
 public:
  virtual ~Peer() = default;

  virtual Carrier carrier() const = 0;
  bool up() const { return established_ && !down_; }
  /// Why it has ended, if it has.
  const std::optional<Error>& down() const { return down_; }
  /// What the server said while connecting (RFC 8797).
  const Bytes& private_data() const { return private_data_; }
  /// What the provider says of the connection: "iwarp MPA 2, CRC, 127.0.0.1:20049".
  const std::string& description() const { return description_; }
  std::deque<Arrived>& arrived() { return arrived_; }
  /// Packet of the capture in which the last message was sent; 0: there is no capture.
  std::uint64_t sent_frame() const { return sent_frame_; }

  /// One message, or bytes of a socket. Fails when the connection has ended.
  virtual Result<void> send(std::span<const std::byte> bytes) = 0;
  /// Memory that the next send() makes reachable. Fails where there is no RDMA.
  virtual Result<Exposed*> expose(std::size_t size, fabric::Access access) = 0;
  /// Ends the connection: in order, or without a word.
  virtual void close(bool orderly) = 0;
  /// A counter of the provider ("read_requests_received"); 0 for one that it does not have.
  virtual std::uint64_t counter(std::string_view name) const = 0;

 protected:
  bool established_ = false;
  std::optional<Error> down_;
  Bytes private_data_;
  std::string description_;
  std::deque<Arrived> arrived_;
  std::uint64_t sent_frame_ = 0;
};

}  // namespace nfsrdma::lab
