#include "transport/capture/tcp_segment.h"

#include <endian.h>

#include <cstring>

namespace nfsrdma::capture {
namespace {

constexpr std::size_t kIpv4Header = 20;
constexpr std::size_t kIpv6Header = 40;
constexpr std::size_t kTcpHeader = 20;
constexpr std::size_t kUdpHeader = 8;
constexpr std::size_t kUdpChecksumAt = 6;
constexpr std::size_t kIpv4Address = 4;
constexpr std::size_t kIpv6Address = 16;
constexpr std::size_t kIpv4ChecksumAt = 10;
constexpr std::size_t kTcpChecksumAt = 16;
constexpr std::uint8_t kHopLimit = 64;
constexpr std::uint16_t kDontFragment = 0x4000;
constexpr std::uint16_t kWindow = 65535;

/// Appends integers in network order.
class Writer {
 public:
  explicit Writer(std::byte* to) : at_(to) {}
  void u8(std::uint8_t value) { raw(&value, sizeof value); }
  void u16(std::uint16_t value) {
    value = htobe16(value);
    raw(&value, sizeof value);
  }
  void u32(std::uint32_t value) {
    value = htobe32(value);
    raw(&value, sizeof value);
  }
  void raw(const void* data, std::size_t size) {
    std::memcpy(at_, data, size);
    at_ += size;
  }

 private:
  std::byte* at_;
};

/// The Internet checksum (RFC 1071) of bytes that come in parts of any length.
class Checksum {
 public:
  void add(std::span<const std::byte> bytes) {
    for (std::byte byte : bytes) {
      const auto value = std::to_integer<std::uint32_t>(byte);
      sum_ += odd_ ? value : value << 8;
      odd_ = !odd_;
    }
  }
  void add_word(std::uint32_t value) { sum_ += (value >> 16) + (value & 0xffff); }
  std::uint16_t value() const {
    std::uint64_t folded = sum_;
    while (folded >> 16 != 0) folded = (folded >> 16) + (folded & 0xffff);
    return static_cast<std::uint16_t>(~folded);
  }

 private:
  std::uint64_t sum_ = 0;
  bool odd_ = false;
};

void put_checksum(std::byte* at, std::uint16_t value) { Writer(at).u16(value); }

void put_ipv4(std::byte* to, const End& from, const End& dest, std::uint8_t protocol,
              std::size_t length) {
  Writer out(to);
  out.u8(0x45);  // version 4, five words
  out.u8(0);
  out.u16(static_cast<std::uint16_t>(kIpv4Header + length));
  out.u16(0);
  out.u16(kDontFragment);
  out.u8(kHopLimit);
  out.u8(protocol);
  out.u16(0);
  out.raw(from.address.data(), kIpv4Address);
  out.raw(dest.address.data(), kIpv4Address);
  Checksum sum;
  sum.add({to, kIpv4Header});
  put_checksum(to + kIpv4ChecksumAt, sum.value());
}

void put_ipv6(std::byte* to, const End& from, const End& dest, std::uint8_t protocol,
              std::size_t length) {
  Writer out(to);
  out.u32(0x60000000);  // version 6, no class, no flow label
  out.u16(static_cast<std::uint16_t>(length));
  out.u8(protocol);
  out.u8(kHopLimit);
  out.raw(from.address.data(), kIpv6Address);
  out.raw(dest.address.data(), kIpv6Address);
}

void put_tcp(std::byte* to, const End& from, const End& dest, const Segment& segment) {
  Writer out(to);
  out.u16(from.port);
  out.u16(dest.port);
  out.u32(segment.sequence);
  out.u32((segment.flags & kAck) != 0 ? segment.acknowledged : 0);
  out.u8(kTcpHeader / 4 << 4);
  out.u8(segment.flags);
  out.u16(kWindow);
  out.u16(0);
  out.u16(0);
}

}  // namespace

End make_end(const sockaddr& address) {
  End end;
  if (address.sa_family == AF_INET6) {
    const auto& in6 = reinterpret_cast<const sockaddr_in6&>(address);
    end.v6 = true;
    end.port = be16toh(in6.sin6_port);
    std::memcpy(end.address.data(), &in6.sin6_addr, kIpv6Address);
  } else {
    const auto& in4 = reinterpret_cast<const sockaddr_in&>(address);
    end.port = be16toh(in4.sin_port);
    std::memcpy(end.address.data(), &in4.sin_addr, kIpv4Address);
  }
  return end;
}

namespace {

std::size_t length_of(std::span<const std::span<const std::byte>> payload) {
  std::size_t length = 0;
  for (const auto& part : payload) length += part.size();
  return length;
}

std::size_t ip_length(const End& end) { return end.v6 ? kIpv6Header : kIpv4Header; }

/// Over the pseudo header, the transport's header and the payload.
std::uint16_t transport_checksum(const End& from, const End& to, std::uint8_t protocol,
                                 std::span<const std::byte> header,
                                 std::span<const std::span<const std::byte>> payload) {
  Checksum sum;
  const std::size_t address_length = from.v6 ? kIpv6Address : kIpv4Address;
  sum.add(std::span(from.address).first(address_length));
  sum.add(std::span(to.address).first(address_length));
  sum.add_word(protocol);
  sum.add_word(static_cast<std::uint32_t>(header.size() + length_of(payload)));
  sum.add(header);
  for (const auto& part : payload) sum.add(part);
  return sum.value();
}

}  // namespace

Headers make_headers(const End& from, const End& to, const Segment& segment,
                     std::span<const std::span<const std::byte>> payload) {
  Headers headers;
  headers.length = ip_length(from) + kTcpHeader;
  std::byte* ip = headers.storage.data();
  std::byte* tcp = ip + ip_length(from);
  (from.v6 ? put_ipv6 : put_ipv4)(ip, from, to, IPPROTO_TCP, kTcpHeader + length_of(payload));
  put_tcp(tcp, from, to, segment);
  put_checksum(tcp + kTcpChecksumAt,
               transport_checksum(from, to, IPPROTO_TCP, {tcp, kTcpHeader}, payload));
  return headers;
}

Headers make_udp_headers(const End& from, const End& to,
                         std::span<const std::span<const std::byte>> payload) {
  Headers headers;
  headers.length = ip_length(from) + kUdpHeader;
  std::byte* ip = headers.storage.data();
  std::byte* udp = ip + ip_length(from);
  const std::size_t length = kUdpHeader + length_of(payload);
  (from.v6 ? put_ipv6 : put_ipv4)(ip, from, to, IPPROTO_UDP, length);
  Writer out(udp);
  out.u16(from.port);
  out.u16(to.port);
  out.u16(static_cast<std::uint16_t>(length));
  out.u16(0);  // none, which RoCEv2 has over IPv4
  if (from.v6) {
    put_checksum(udp + kUdpChecksumAt,
                 transport_checksum(from, to, IPPROTO_UDP, {udp, kUdpHeader}, payload));
  }
  return headers;
}

}  // namespace nfsrdma::capture
