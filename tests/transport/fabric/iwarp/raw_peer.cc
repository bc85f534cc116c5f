#include "tests/transport/fabric/iwarp/raw_peer.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

namespace nfsrdma::fabric::testing {
namespace {

void make_non_blocking(int fd) {
  ASSERT_EQ(::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK), 0);
  const int on = 1;
  ASSERT_EQ(::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on), 0);
}

}  // namespace

void RawPeer::connect(const Address& to) {
  fd_.reset(::socket(to.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_TRUE(fd_);
  if (small_receive_buffer) {
    const int bytes = 512 * 1024;
    ASSERT_EQ(::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes), 0);
  }
  ASSERT_EQ(::connect(fd_.get(), to.get(), to.length), 0);
  make_non_blocking(fd_.get());
}

void RawPeer::listen(const char* host) {
  const Address local = address_of(host);
  listening_.reset(::socket(local.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_TRUE(listening_);
  ASSERT_EQ(::bind(listening_.get(), local.get(), local.length), 0);
  ASSERT_EQ(::listen(listening_.get(), 4), 0);
  make_non_blocking(listening_.get());
}

Address RawPeer::address() const {
  Address address;
  address.length = sizeof address.storage;
  EXPECT_EQ(::getsockname(listening_.get(), reinterpret_cast<sockaddr*>(&address.storage),
                          &address.length),
            0);
  return address;
}

void RawPeer::accept() {
  received.clear();
  ended = false;
  ASSERT_TRUE(loop_->until([&] {
    fd_.reset(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    return static_cast<bool>(fd_);
  }));
  make_non_blocking(fd_.get());
}

void RawPeer::send(const Bytes& bytes) {
  std::size_t sent = 0;
  bool broken = false;
  ASSERT_TRUE(loop_->until([&] {
    const ssize_t put = ::send(fd_.get(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    // The other side may hang up on what it does not like before it has read all of it.
    broken = put < 0 && errno != EAGAIN;
    if (put > 0) sent += static_cast<std::size_t>(put);
    return broken || sent == bytes.size();
  }));
}

void RawPeer::read_available() {
  std::array<std::byte, 65536> part;
  for (;;) {
    const ssize_t got = ::recv(fd_.get(), part.data(), part.size(), 0);
    if (got == 0 || (got < 0 && errno != EAGAIN)) ended = true;
    if (got <= 0) return;
    received.insert(received.end(), part.begin(), part.begin() + got);
  }
}

void RawPeer::receive(std::size_t bytes) {
  ASSERT_TRUE(loop_->until([&] {
    read_available();
    return received.size() >= bytes;
  })) << received.size()
      << " of " << bytes << " bytes came";
}

void RawPeer::receive_fpdus(std::size_t count) {
  const std::size_t wanted = fpdus.size() + count;
  ASSERT_TRUE(loop_->until([&] {
    read_available();
    for (auto& each : wire::take_fpdus(received)) fpdus.push_back(std::move(each));
    return fpdus.size() >= wanted;
  })) << fpdus.size()
      << " of " << wanted << " FPDUs came";
}

void RawPeer::receive_end() {
  ASSERT_TRUE(loop_->until([&] {
    read_available();
    for (auto& each : wire::take_fpdus(received)) fpdus.push_back(std::move(each));
    return ended;
  }));
}

void RawPeer::finish_writing() { ASSERT_EQ(::shutdown(fd_.get(), SHUT_WR), 0); }

void RawPeer::close() { fd_.reset(); }

void RawPeer::reset() {
  const linger abort{1, 0};
  ASSERT_EQ(::setsockopt(fd_.get(), SOL_SOCKET, SO_LINGER, &abort, sizeof abort), 0);
  fd_.reset();
}

Bytes RawPeer::receive_startup() {
  constexpr std::size_t header = 20;
  receive(header);
  if (received.size() < header) return {};
  const std::size_t length = header + (wire::be32(std::span(received).subspan(16)) & 0xffff);
  receive(length);
  Bytes frame(received.begin(), received.begin() + static_cast<std::ptrdiff_t>(length));
  received.erase(received.begin(), received.begin() + static_cast<std::ptrdiff_t>(length));
  return frame;
}

std::optional<unsigned> RawPeer::terminate() const {
  if (fpdus.empty() || fpdus.back().opcode != wire::kTerminate) return std::nullopt;
  const auto& payload = fpdus.back().payload;
  if (payload.size() < 4) return std::nullopt;
  return std::to_integer<unsigned>(payload[0]) << 8 | std::to_integer<unsigned>(payload[1]);
}

}  // namespace nfsrdma::fabric::testing
