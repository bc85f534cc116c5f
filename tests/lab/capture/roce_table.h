// RoCEv2 (InfiniBand Architecture, annexes A17 and 9): packets of reliable connections in UDP, and
// the connection manager's messages, which tell queue pairs and private data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "tests/lab/capture/wire.h"

namespace nfsrdma::lab {

/// The headers of a packet of InfiniBand, as far as they matter here.
struct RocePacket {
  std::uint8_t opcode = 0;
  std::uint32_t queue_pair = 0;  ///< of the receiver
  std::uint32_t psn = 0;
  std::uint64_t address = 0;      ///< RETH
  std::uint32_t key = 0;          ///< RETH
  std::uint32_t length = 0;       ///< RETH
  std::uint32_t invalidated = 0;  ///< IETH
  std::uint8_t syndrome = 0;      ///< AETH
  std::span<const std::byte> payload;
};
std::optional<RocePacket> parse_roce(std::span<const std::byte> datagram);

/// One queue pair's packets to the other's, put together again.
class RoceDirection {
 public:
  static constexpr std::size_t kMostMessage = 1 << 20;
  static constexpr std::size_t kMostReads = 1024;

  /// A read that was asked for, in the order of the requests.
  struct Read {
    std::uint32_t psn = 0;
    iwarp::ReadRequest request;
    std::uint32_t received = 0;
  };

  /// `answers`: the reads of the other direction, whose responses come in this one.
  RoceDirection(Side side, WireObserver& observer) : side_(side), observer_(observer) {}
  void add(const RocePacket& packet, RoceDirection& other, Moment at);

 private:
  bool in_order(const RocePacket& packet, Moment at);
  void send(const RocePacket& packet, Moment at);
  void write(const RocePacket& packet, Moment at);
  void read_request(const RocePacket& packet, Moment at);
  void read_response(const RocePacket& packet, RoceDirection& other, Moment at);
  void acknowledge(const RocePacket& packet, Moment at);

  Side side_;
  WireObserver& observer_;
  std::optional<std::uint32_t> next_psn_;
  std::uint32_t may_skip_ = 0;  // sequence numbers that responses to a read have taken
  bool in_message_ = false;
  std::vector<std::byte> message_;
  Place write_at_;
  std::uint64_t reads_made_ = 0;
  std::deque<Read> reads_;
};

class RoceTable {
 public:
  static constexpr std::uint16_t kPort = 4791;
  static constexpr std::size_t kMost = 1024;

  RoceTable(WireObserverFactory& factory, std::size_t& connections)
      : factory_(factory), connections_(connections) {}
  void add(const IpPacket& packet);
  void finish(Moment at);

 private:
  using Address = std::array<std::byte, 16>;
  using FlowKey = std::tuple<Address, Address, std::uint32_t>;  // from, to, queue pair
  struct Connection {
    ConnectionInfo info;
    std::unique_ptr<WireObserver> observer;
    std::optional<RoceDirection> directions[2];
    bool paired = false;
  };
  struct Flow {
    Connection* connection = nullptr;
    Side side = Side::client;
  };
  struct Request {
    std::uint32_t queue_pair = 0;
    std::vector<std::byte> private_data;
    Moment at;
  };

  void management(const IpPacket& packet, std::span<const std::byte> datagram);
  void connection_reply(const IpPacket& packet, std::span<const std::byte> message);
  Flow* flow_of(const IpPacket& packet, const RocePacket& roce);
  Connection* open(const Endpoint& client, const Endpoint& server, Moment at);

  WireObserverFactory& factory_;
  std::size_t& connections_;
  std::vector<std::unique_ptr<Connection>> all_;
  std::map<FlowKey, Flow> flows_;
  std::map<FlowKey, Request> requests_;  // by the communication id in place of the queue pair
};

}  // namespace nfsrdma::lab
