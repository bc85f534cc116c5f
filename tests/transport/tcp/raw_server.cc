#include "tests/transport/tcp/raw_server.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "tests/support/listening_socket.h"
#include "transport/net/tcp_stream.h"

namespace nfsrdma::test {

constexpr int kReceiveBuffer = 64 << 10;  // bytes

RawServer::RawServer() {
  auto any = net::resolve("127.0.0.1", 0, AF_INET);
  auto listener = net::make_listening_socket(any->front());
  EXPECT_TRUE(listener.has_value());
  listener_ = std::move(*listener);
  // Without this line the kernel lets the receive buffer grow to tcp_rmem's largest, which may take
  // a whole message that a test wants to be stuck half sent.
  EXPECT_EQ(
      ::setsockopt(listener_.get(), SOL_SOCKET, SO_RCVBUF, &kReceiveBuffer, sizeof kReceiveBuffer),
      0);
  address_ = net::local_address(listener_.get());
}

bool RawServer::accept() {
  UniqueFd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!fd) return false;
  net::set_connection_options(fd.get());
  connection_ = std::move(fd);
  pending_.clear();
  ended = false;
  return true;
}

void RawServer::send(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::send(connection_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (put < 0 && errno == EAGAIN) {
      ADD_FAILURE() << "more than the kernel takes";
      return;
    }
    ASSERT_GT(put, 0);
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
}

void RawServer::receive() {
  std::array<std::byte, 65536> piece;
  for (;;) {
    const ssize_t got = ::recv(connection_.get(), piece.data(), piece.size(), 0);
    if (got <= 0) {
      ended = ended || got == 0 || errno != EAGAIN;
      break;
    }
    append(pending_, std::span(piece).first(static_cast<std::size_t>(got)));
  }
  cut();
}

void RawServer::cut() {
  constexpr std::size_t kMark = tcp::RecordMark::kSize;
  while (pending_.size() >= kMark) {
    const auto mark = tcp::decode_mark(std::span(pending_).first<kMark>());
    EXPECT_TRUE(mark.last) << "the client sends one fragment a record";
    if (pending_.size() < kMark + mark.length) return;
    const auto begin = pending_.begin() + kMark;
    messages.emplace_back(begin, begin + mark.length);
    pending_.erase(pending_.begin(), begin + mark.length);
  }
}

}  // namespace nfsrdma::test
