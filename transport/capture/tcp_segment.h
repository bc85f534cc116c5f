// IP headers with those of TCP or UDP for recorded bytes (RFC 791, 8200, 9293, 768).
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace nfsrdma::capture {

inline constexpr std::uint8_t kFin = 0x01;
inline constexpr std::uint8_t kSyn = 0x02;
inline constexpr std::uint8_t kPush = 0x08;
inline constexpr std::uint8_t kAck = 0x10;

/// One end of a connection. IPv4 addresses fill the first four bytes.
struct End {
  std::array<std::byte, 16> address{};
  std::uint16_t port = 0;
  bool v6 = false;
};
End make_end(const sockaddr& address);

inline constexpr std::size_t kMaxHeaders = 60;
struct Headers {
  std::array<std::byte, kMaxHeaders> storage{};
  std::size_t length = 0;
  std::span<const std::byte> bytes() const { return std::span(storage).first(length); }
};

struct Segment {
  std::uint32_t sequence = 0;
  std::uint32_t acknowledged = 0;
  std::uint8_t flags = 0;
};

/// The IP and TCP headers of a segment whose payload is the concatenation of `payload`.
Headers make_headers(const End& from, const End& to, const Segment& segment,
                     std::span<const std::span<const std::byte>> payload);

/// The IP and UDP headers of a datagram.
Headers make_udp_headers(const End& from, const End& to,
                         std::span<const std::span<const std::byte>> payload);

}  // namespace nfsrdma::capture
