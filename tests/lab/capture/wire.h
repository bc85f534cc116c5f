// What a capture has of one connection, whatever carried it: the vocabulary between code that takes
// packets apart and code that judges or converts them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "tests/lab/capture/ip_packet.h"
#include "transport/fabric/iwarp/ddp_header.h"
#include "transport/fabric/iwarp/mpa_frame.h"
#include "transport/fabric/iwarp/rdmap_header.h"

namespace nfsrdma::lab {

namespace iwarp = fabric::iwarp;

/// The client is the side that made the connection.
enum class Side : std::uint8_t { client, server };
constexpr Side other(Side side) { return side == Side::client ? Side::server : Side::client; }
constexpr const char* side_name(Side side) { return side == Side::client ? "client" : "server"; }
constexpr std::size_t index_of(Side side) { return static_cast<std::size_t>(side); }

/// What carries the RPCs, or RPC-over-RDMA.
enum class LowerLayer : std::uint8_t { iwarp, roce, tcp };
constexpr const char* lower_layer_name(LowerLayer layer) {
  return layer == LowerLayer::iwarp ? "iWARP" : layer == LowerLayer::roce ? "RoCEv2" : "TCP";
}

struct ConnectionInfo {
  std::size_t number = 0;  ///< from 1, in the order of the capture
  LowerLayer lower_layer = LowerLayer::tcp;
  Endpoint client;
  Endpoint server;
  Moment since;
};

/// The sender of something, and its place in the capture: in the frame that has its last byte.
struct Source {
  Moment at;
  Side from = Side::client;
};

/// A place in memory that was offered to the peer.
struct Place {
  std::uint32_t handle = 0;
  std::uint64_t offset = 0;
};

/// One DDP segment (iWARP only), and what it should have been where the ones before it tell.
struct SegmentSeen {
  Source source;
  iwarp::DdpHeader header;
  std::size_t length = 0;  ///< of the payload
  bool crc_wrong = false;
  bool ends_stream = false;  ///< it came behind a Terminate
  std::optional<std::uint32_t> expected_msn;
  std::optional<std::uint32_t> expected_mo;
};

/// What happens on one connection, in the order of the capture. Views are valid during the call.
class WireObserver {
 public:
  virtual ~WireObserver() = default;
  virtual void on_startup(const Source& source, const iwarp::StartupFrame& frame) = 0;
  /// Of MPA, or of the connection manager of InfiniBand.
  virtual void on_private_data(const Source& source, std::span<const std::byte> data) = 0;
  virtual void on_segment(const SegmentSeen& segment) = 0;
  /// A whole message; `invalidated`: it is a Send With Invalidate of that handle.
  virtual void on_send(const Source& source, std::span<const std::byte> message,
                       std::optional<std::uint32_t> invalidated) = 0;
  virtual void on_write(const Source& source, Place to, std::span<const std::byte> data) = 0;
  virtual void on_read_request(const Source& source, const iwarp::ReadRequest& request) = 0;
  /// `to` is the sink's. RoCEv2 has no sinks: request and response are given the same made-up one.
  virtual void on_read_response(const Source& source, Place to,
                                std::span<const std::byte> data) = 0;
  /// This side refuses what the other did, which ends the connection: a Terminate message, or a
  /// negative acknowledgement of InfiniBand. `why` is for people.
  virtual void on_terminate(const Source& source, const std::string& why) = 0;
  /// An RPC message of a TCP connection, without record marks.
  virtual void on_record(const Source& source, std::span<const std::byte> message) = 0;
  /// Something that this side sent is not in the capture: what is known of the connection is not
  /// the whole of it from here on.
  virtual void on_gap(const Source& source) = 0;
  /// A stream that cannot be what it began as.
  virtual void on_nonsense(const Source& source, const char* what) = 0;
  virtual void on_closed(Moment at) = 0;
};

/// Makes an observer for each connection that has something to look at.
class WireObserverFactory {
 public:
  virtual ~WireObserverFactory() = default;
  virtual std::unique_ptr<WireObserver> on_connection(const ConnectionInfo& info) = 0;
};

}  // namespace nfsrdma::lab
