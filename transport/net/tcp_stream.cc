#include "transport/net/tcp_stream.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "transport/net/fault.h"

namespace nfsrdma::net {
namespace {

/// The smallest segment IPv4 lets a host count on; used when the system does not tell.
constexpr std::size_t kDefaultSegment = 536;

// A peer that vanished without a word is noticed within about half a minute, whether or not
// something was being sent to it.
constexpr int kKeepAliveIdleSeconds = 15;
constexpr int kKeepAliveIntervalSeconds = 5;
constexpr int kKeepAliveProbes = 4;
constexpr int kUnacknowledgedMilliseconds = 35'000;

void set_option(int fd, int level, int option, int value = 1) {
  // Every option set here only tunes; a connection without it still works.
  (void)::setsockopt(fd, level, option, &value, sizeof value);
}

}  // namespace

void set_connection_options(int fd) {
  set_option(fd, IPPROTO_TCP, TCP_NODELAY);
  set_option(fd, SOL_SOCKET, SO_KEEPALIVE);
  set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, kKeepAliveIdleSeconds);
  set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, kKeepAliveIntervalSeconds);
  set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, kKeepAliveProbes);
  set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, kUnacknowledgedMilliseconds);
}

Result<UniqueFd> make_socket(int family) {
  UniqueFd fd(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP));
  if (!fd) return fail(Error::from_errno(errno, "socket"));
  set_connection_options(fd.get());
  return fd;
}

Address local_address(int fd) {
  Address address;
  address.length = sizeof address.storage;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address.storage), &address.length) != 0) {
    address.length = 0;
  }
  return address;
}

Address peer_address(int fd) {
  Address address;
  address.length = sizeof address.storage;
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&address.storage), &address.length) != 0) {
    address.length = 0;
  }
  return address;
}

std::size_t maximum_segment(int fd) {
  int segment = 0;
  socklen_t size = sizeof segment;
  if (::getsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &segment, &size) != 0 || segment <= 0) {
    return kDefaultSegment;
  }
  return static_cast<std::size_t>(segment);
}

int connect_outcome(int fd) {
  int error = 0;
  socklen_t size = sizeof error;
  if (::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0) return errno;
  return error;
}

Error socket_error(int error_number, const char* step, std::string detail) {
  const auto fault = [&](Fault code) {
    return Error{Layer::fabric, static_cast<int>(code), step, std::move(detail)};
  };
  switch (error_number) {
    case ECONNREFUSED: return fault(Fault::refused);
    case ETIMEDOUT: return fault(Fault::timed_out);
    case ECONNRESET:
    case EPIPE: return fault(Fault::reset);
    default: return Error::from_errno(error_number, step, std::move(detail));
  }
}

ssize_t TcpStream::read(std::span<iovec> into) {
  counters_.read_calls.add();
  ssize_t got;
  do {
    got = ::readv(socket_.get(), into.data(), static_cast<int>(into.size()));
  } while (got < 0 && errno == EINTR);
  if (got < 0) return -errno;
  counters_.bytes_received.add(static_cast<std::uint64_t>(got));
  if (capture_) capture_->received(into, static_cast<std::size_t>(got));
  return got;
}

ssize_t TcpStream::write(std::span<iovec> from) {
  counters_.write_calls.add();
  msghdr message{};
  message.msg_iov = from.data();
  message.msg_iovlen = from.size();
  ssize_t put;
  do {
    put = ::sendmsg(socket_.get(), &message, MSG_NOSIGNAL);
  } while (put < 0 && errno == EINTR);
  if (put < 0) return -errno;
  counters_.bytes_sent.add(static_cast<std::uint64_t>(put));
  if (capture_) {
    if (!comment_.empty()) capture_->comment(std::exchange(comment_, {}));
    capture_->sent(from, static_cast<std::size_t>(put));
  }
  return put;
}

void TcpStream::finish_writing() { (void)::shutdown(socket_.get(), SHUT_WR); }

}  // namespace nfsrdma::net
