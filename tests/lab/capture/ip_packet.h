// TCP segments and UDP datagrams of captured packets.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "tests/lab/capture/packet_file.h"

namespace nfsrdma::lab {

/// An address and a port. IPv4 addresses fill the first four bytes.
struct Endpoint {
  std::array<std::byte, 16> address{};
  std::uint16_t port = 0;
  bool v6 = false;

  auto operator<=>(const Endpoint&) const = default;
  sockaddr_storage to_sockaddr() const;
  std::string text() const;  ///< "192.0.2.1:20049", "[2001:db8::1]:20049"
};

struct TcpHeader {
  std::uint32_t sequence = 0;
  std::uint32_t acknowledged = 0;
  bool syn = false;
  bool fin = false;
  bool reset = false;
  bool ack = false;
};

struct IpPacket {
  Moment at;
  Endpoint from;
  Endpoint to;
  std::optional<TcpHeader> tcp;  ///< nothing: UDP
  std::span<const std::byte> payload;
  bool cut = false;  ///< the capture has less of the payload than the wire had
};

/// Nothing for what is neither TCP nor UDP, for fragments of IP, and for what is too short.
/// `link_type`: DLT_EN10MB (with VLAN tags), LINUX_SLL, LINUX_SLL2, RAW, IPV4, IPV6, NULL, LOOP.
std::optional<IpPacket> parse_ip(int link_type, const Packet& packet);

}  // namespace nfsrdma::lab
