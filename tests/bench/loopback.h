// Sockets on this machine's own loopback, for programs that measure.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cstddef>
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

/// Small messages do not wait for what went before them to be acknowledged.
inline void send_at_once(int socket) {
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

/// A connection to a port of 127.0.0.1; -1 and errno when there is none.
inline int connect_to(unsigned long port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback(port);
  if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return -1;
  }
  send_at_once(socket);
  return socket;
}

/// Blocks until all is sent. False: the connection is over.
inline bool send_all(int socket, const void* data, std::size_t length) {
  const auto* next = static_cast<const char*>(data);
  while (length > 0) {
    const ssize_t sent = ::send(socket, next, length, MSG_NOSIGNAL);
    if (sent <= 0) return false;
    next += sent;
    length -= static_cast<std::size_t>(sent);
  }
  return true;
}

}  // namespace nfsrdma::bench
