// Sockets on this machine's own loopback, for programs that measure.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <cstdio>

namespace nfsrdma::bench {

inline constexpr int kBacklog = 64;

inline sockaddr_in loopback(unsigned long port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

/// A socket that listens on a port of 127.0.0.1 (0: a free one) and has said "listening on
/// 127.0.0.1:PORT"; -1 and errno when there is none.
inline int listen_on(unsigned long port) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  ::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address = loopback(port);
  socklen_t length = sizeof address;
  auto* where = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener, where, length) != 0 || ::listen(listener, kBacklog) != 0) return -1;
  ::getsockname(listener, where, &length);
  std::printf("listening on 127.0.0.1:%u\n", ntohs(address.sin_port));
  std::fflush(stdout);
  return listener;
}

}  // namespace nfsrdma::bench
