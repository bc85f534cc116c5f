#include "tests/hostile/relay.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstdlib>

#include "tests/support/listening_socket.h"
#include "transport/net/tcp_stream.h"

namespace nfsrdma::hostile {
namespace {

constexpr std::size_t kReadAtOnce = 65536;

void prepare(int fd) {
  const int on = 1;
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

UniqueFd listen_on_loopback() {
  const auto loopback = net::resolve("127.0.0.1", 0, AF_INET);
  auto socket = net::make_listening_socket(loopback.value().front());
  if (!socket) std::abort();
  return std::move(*socket);
}

}  // namespace

Wire::Side::Side(Reactor& reactor, UniqueFd socket, Wire& wire, bool is_client)
    : reactor_(reactor), socket_(std::move(socket)), wire_(wire), is_client_(is_client) {
  prepare(socket_.get());
  if (!reactor_.watch(socket_.get(), EPOLLIN, *this)) std::abort();
}

void Wire::Side::send(std::span<const std::byte> bytes) {
  if (ended() || finishing_) return;
  waiting_.insert(waiting_.end(), bytes.begin(), bytes.end());
  flush();
}

void Wire::Side::flush() {
  while (sent_ < waiting_.size()) {
    const ssize_t put =
        ::send(socket_.get(), waiting_.data() + sent_, waiting_.size() - sent_, MSG_NOSIGNAL);
    if (put < 0) {
      if (errno != EAGAIN) return wire_.reset();
      return interest();
    }
    sent_ += static_cast<std::size_t>(put);
  }
  waiting_.clear();
  sent_ = 0;
  if (finishing_) ::shutdown(socket_.get(), SHUT_WR);
  if (finishing_ && heard_all_) return end();
  interest();
}

void Wire::Side::interest() {
  const bool more = sent_ < waiting_.size();
  const std::uint32_t events = (heard_all_ ? 0U : EPOLLIN) | (more ? EPOLLOUT : 0U);
  (void)reactor_.modify(socket_.get(), events, *this);
}

void Wire::Side::finish() {
  if (ended() || finishing_) return;
  finishing_ = true;
  flush();
}

void Wire::Side::end() {
  if (ended()) return;
  reactor_.unwatch(socket_.get());
  socket_.reset();
}

void Wire::Side::reset() {
  if (ended()) return;
  const linger abort{1, 0};
  ::setsockopt(socket_.get(), SOL_SOCKET, SO_LINGER, &abort, sizeof abort);
  end();
}

void Wire::Side::on_ready(std::uint32_t events) {
  if ((events & EPOLLOUT) != 0) flush();
  if (ended() || (events & (EPOLLIN | EPOLLERR | EPOLLHUP)) == 0) return;
  if (heard_all_) return wire_.reset();  // it has hung up: told again and again
  std::array<std::byte, kReadAtOnce> bytes;
  const ssize_t got = ::recv(socket_.get(), bytes.data(), bytes.size(), 0);
  if (got > 0)
    return wire_.heard(is_client_, std::span(bytes).first(static_cast<std::size_t>(got)));
  if (got < 0 && errno == EAGAIN) return;
  if (got < 0) return wire_.reset();
  heard_all_ = true;
  interest();
  wire_.heard_all(is_client_);
  if (!ended() && finishing_ && waiting_.empty()) end();
}

Wire::Wire(Reactor& reactor, UniqueFd client, UniqueFd server)
    : client_(reactor, std::move(client), *this, true),
      server_(reactor, std::move(server), *this, false) {}

void Wire::reset() {
  client_.reset();
  server_.reset();
}

void Wire::heard(bool client, std::span<const std::byte> bytes) {
  if (client) {
    conversation->from_client(bytes);
  } else {
    conversation->from_server(bytes);
  }
}

void Wire::heard_all(bool client) { client ? server_.finish() : client_.finish(); }

Relay::Relay(Reactor& reactor, const net::Address& server, Begin begin)
    : Relay(reactor, listen_on_loopback(), server, std::move(begin)) {}

Relay::Relay(Reactor& reactor, UniqueFd listening, const net::Address& server, Begin begin)
    : reactor_(reactor),
      server_(server),
      begin_(std::move(begin)),
      listening_(std::move(listening)) {
  if (!reactor_.watch(listening_.get(), EPOLLIN, *this)) std::abort();
}

Relay::~Relay() { reactor_.unwatch(listening_.get()); }

net::Address Relay::address() const { return net::local_address(listening_.get()); }

void Relay::reset_all() {
  for (Wire& wire : wires_) wire.reset();
}

void Relay::on_ready(std::uint32_t) {
  // Those of before: none of them is on the stack.
  wires_.remove_if([](const Wire& wire) { return wire.over(); });
  UniqueFd client(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!client) return;
  UniqueFd server(::socket(server_.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!server || ::connect(server.get(), server_.get(), server_.length) != 0) return;
  Wire& wire = wires_.emplace_back(reactor_, std::move(client), std::move(server));
  wire.conversation = begin_(wire);
}

}  // namespace nfsrdma::hostile
