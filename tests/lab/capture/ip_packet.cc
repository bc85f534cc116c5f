#include "tests/lab/capture/ip_packet.h"

#include <arpa/inet.h>
#include <pcap/dlt.h>

#include <algorithm>
#include <cstring>

#include "tests/lab/capture/byte_view.h"

namespace nfsrdma::lab {
namespace {

constexpr std::uint16_t kEtherIpv4 = 0x0800;
constexpr std::uint16_t kEtherIpv6 = 0x86dd;
constexpr std::uint16_t kEtherVlan = 0x8100;
constexpr std::uint16_t kEtherServiceVlan = 0x88a8;
constexpr std::size_t kEtherTypeAt = 12;
constexpr std::size_t kVlanTag = 4;
constexpr std::size_t kMostVlanTags = 4;
constexpr std::size_t kSllHeader = 16;
constexpr std::size_t kSllTypeAt = 14;
constexpr std::size_t kSll2Header = 20;
constexpr std::size_t kNullHeader = 4;
constexpr std::size_t kIpv4Least = 20;
constexpr std::size_t kIpv6Header = 40;
constexpr std::size_t kTcpLeast = 20;
constexpr std::size_t kUdpHeader = 8;
constexpr std::size_t kMostExtensions = 8;
constexpr std::uint16_t kFragmentBits = 0x3fff;  // "more fragments" and the offset
constexpr std::uint8_t kHopByHop = 0;
constexpr std::uint8_t kDestinationOptions = 60;

/// What carries it does not matter where the packet says itself which IP it is.
std::span<const std::byte> by_ether_type(const ByteView& frame, std::size_t type_at,
                                         std::size_t payload_at) {
  for (std::size_t tags = 0; tags < kMostVlanTags; ++tags) {
    const std::uint16_t type = frame.u16(type_at);
    if (type == kEtherIpv4 || type == kEtherIpv6) return frame.part(payload_at);
    if (type != kEtherVlan && type != kEtherServiceVlan) return {};
    type_at = payload_at + kVlanTag - sizeof type;
    payload_at += kVlanTag;
  }
  return {};
}

std::span<const std::byte> ip_of(int link_type, const ByteView& frame) {
  switch (link_type) {
    case DLT_EN10MB: return by_ether_type(frame, kEtherTypeAt, kEtherTypeAt + 2);
    case DLT_LINUX_SLL: return by_ether_type(frame, kSllTypeAt, kSllHeader);
    case DLT_LINUX_SLL2: return by_ether_type(frame, 0, kSll2Header);
    case DLT_NULL:
    case DLT_LOOP: return frame.part(kNullHeader);
    case DLT_RAW:
    case DLT_IPV4:
    case DLT_IPV6: return frame.part(0);
    default: return {};
  }
}

/// The payload of IP: `length` bytes on the wire.
struct Inner {
  std::uint8_t protocol = 0;
  std::span<const std::byte> bytes;
  std::size_t length = 0;
};

std::optional<Inner> parse_v4(const ByteView& ip, IpPacket& packet) {
  const std::size_t header = (ip.u8(0) & 0x0fu) * 4;
  if (header < kIpv4Least || !ip.has(header) || (ip.u16(6) & kFragmentBits) != 0) return {};
  std::copy_n(ip.part(12).begin(), 4, packet.from.address.begin());
  std::copy_n(ip.part(16).begin(), 4, packet.to.address.begin());
  std::size_t total = ip.u16(2);
  // Segmentation offload: packets too long for the field have 0 there.
  if (total == 0) total = ip.size();
  if (total < header) return {};
  return Inner{ip.u8(9), ip.part(header, total - header), total - header};
}

std::optional<Inner> parse_v6(const ByteView& ip, IpPacket& packet) {
  if (!ip.has(kIpv6Header)) return {};
  packet.from.v6 = packet.to.v6 = true;
  std::copy_n(ip.part(8).begin(), 16, packet.from.address.begin());
  std::copy_n(ip.part(24).begin(), 16, packet.to.address.begin());
  std::size_t left = ip.u16(4);
  if (left == 0) left = ip.size() - kIpv6Header;
  std::uint8_t next = ip.u8(6);
  std::size_t at = kIpv6Header;
  for (std::size_t i = 0; i < kMostExtensions; ++i) {
    if (next != kHopByHop && next != IPPROTO_ROUTING && next != kDestinationOptions) break;
    const std::size_t length = (ip.u8(at + 1) + 1u) * 8;
    if (length > left) return {};
    next = ip.u8(at);
    at += length;
    left -= length;
  }
  return Inner{next, ip.part(at, left), left};
}

std::optional<IpPacket> parse_tcp(const Inner& inner, IpPacket packet) {
  const ByteView tcp(inner.bytes);
  const std::size_t header = (tcp.u8(12) >> 4) * 4u;
  if (header < kTcpLeast || !tcp.has(header)) return {};
  const std::uint8_t flags = tcp.u8(13);
  packet.from.port = tcp.u16(0);
  packet.to.port = tcp.u16(2);
  packet.tcp = TcpHeader{.sequence = tcp.u32(4),
                         .acknowledged = tcp.u32(8),
                         .syn = (flags & 0x02) != 0,
                         .fin = (flags & 0x01) != 0,
                         .reset = (flags & 0x04) != 0,
                         .ack = (flags & 0x10) != 0};
  packet.payload = tcp.part(header);
  packet.cut = packet.payload.size() < inner.length - header;
  return packet;
}

std::optional<IpPacket> parse_udp(const Inner& inner, IpPacket packet) {
  const ByteView udp(inner.bytes);
  const std::size_t length = udp.u16(4);
  if (!udp.has(kUdpHeader) || length < kUdpHeader) return {};
  packet.from.port = udp.u16(0);
  packet.to.port = udp.u16(2);
  packet.payload = udp.part(kUdpHeader, length - kUdpHeader);
  packet.cut = packet.payload.size() < length - kUdpHeader;
  return packet;
}

}  // namespace

sockaddr_storage Endpoint::to_sockaddr() const {
  sockaddr_storage storage{};
  if (v6) {
    auto& in6 = reinterpret_cast<sockaddr_in6&>(storage);
    in6.sin6_family = AF_INET6;
    in6.sin6_port = htons(port);
    std::memcpy(&in6.sin6_addr, address.data(), sizeof in6.sin6_addr);
  } else {
    auto& in4 = reinterpret_cast<sockaddr_in&>(storage);
    in4.sin_family = AF_INET;
    in4.sin_port = htons(port);
    std::memcpy(&in4.sin_addr, address.data(), sizeof in4.sin_addr);
  }
  return storage;
}

std::string Endpoint::text() const {
  std::array<char, INET6_ADDRSTRLEN> name{};
  ::inet_ntop(v6 ? AF_INET6 : AF_INET, address.data(), name.data(), name.size());
  const std::string host = v6 ? "[" + std::string(name.data()) + "]" : std::string(name.data());
  return host + ":" + std::to_string(port);
}

std::optional<IpPacket> parse_ip(int link_type, const Packet& packet) {
  const ByteView ip(ip_of(link_type, ByteView(packet.bytes)));
  IpPacket parsed;
  parsed.at = packet.at;
  std::optional<Inner> inner;
  if (ip.u8(0) >> 4 == 4) inner = parse_v4(ip, parsed);
  if (ip.u8(0) >> 4 == 6) inner = parse_v6(ip, parsed);
  if (!inner) return {};
  if (inner->protocol == IPPROTO_TCP) return parse_tcp(*inner, parsed);
  if (inner->protocol == IPPROTO_UDP) return parse_udp(*inner, parsed);
  return {};
}

}  // namespace nfsrdma::lab
