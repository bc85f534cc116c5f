#include "tests/lab/wire/tcp_peer.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "transport/net/fault.h"
#include "transport/tcp/record_mark.h"

namespace nfsrdma::lab {
namespace {

Error closed(net::Fault fault, const char* step, std::string detail = {}) {
  return Error{Layer::fabric, static_cast<int>(fault), step, std::move(detail)};
}

}  // namespace

Result<std::unique_ptr<Peer>> TcpPeer::connect(Network& network, const PeerOptions& options) {
  std::unique_ptr<TcpPeer> peer(new TcpPeer(network, options));
  TRY(peer->start(options.address));
  return std::unique_ptr<Peer>(std::move(peer));
}

Result<void> TcpPeer::start(const fabric::Address& address) {
  auto fd = net::make_socket(address.storage.ss_family);
  if (!fd) return fail_from(fd);
  if (::connect(fd->get(), address.get(), address.length) != 0 && errno != EINPROGRESS) {
    return fail(net::socket_error(errno, "connect", address.text()));
  }
  connecting_ = std::move(*fd);
  fd_ = connecting_.get();
  description_ = "tcp " + address.text();
  return network_.reactor().watch(fd_, EPOLLOUT, *this);
}

TcpPeer::~TcpPeer() {
  if (fd_ >= 0) network_.reactor().unwatch(fd_);
}

void TcpPeer::end(Error reason) {
  if (fd_ >= 0) network_.reactor().unwatch(fd_);
  fd_ = -1;
  stream_.reset();
  connecting_.reset();
  if (!down_) down_ = std::move(reason);
}

void TcpPeer::finish_connect() {
  const int outcome = net::connect_outcome(fd_);
  if (outcome != 0) return end(net::socket_error(outcome, "connect", description_));
  std::unique_ptr<capture::Flow> flow;
  if (network_.capture()) {
    const auto local = net::local_address(fd_);
    const auto peer = net::peer_address(fd_);
    flow =
        network_.capture()->open_flow(*local.get(), *peer.get(), true, capture::Carried::messages);
  }
  stream_ = std::make_unique<net::TcpStream>(std::move(connecting_), counters_, std::move(flow));
  established_ = true;
  write_some();
}

void TcpPeer::on_ready(std::uint32_t events) {
  if (!stream_) return finish_connect();
  if ((events & EPOLLOUT) != 0) write_some();
  if (stream_ && (events & (EPOLLIN | EPOLLERR | EPOLLHUP)) != 0) read_some();
}

void TcpPeer::write_some() {
  while (!out_.empty()) {
    std::array<iovec, 1> piece = {{{out_.data(), out_.size()}}};
    const ssize_t put = stream_->write(piece);
    if (put == -EAGAIN) break;
    if (put < 0) return end(net::socket_error(static_cast<int>(-put), "send"));
    out_.erase(out_.begin(), out_.begin() + put);
  }
  const std::uint32_t events = EPOLLIN | (out_.empty() ? 0U : EPOLLOUT);
  auto modified = network_.reactor().modify(fd_, events, *this);
  if (!modified) end(std::move(modified.error()));
}

void TcpPeer::read_some() {
  std::array<std::byte, 64 * 1024> part;
  std::array<iovec, 1> piece = {{{part.data(), part.size()}}};
  const ssize_t got = stream_->read(piece);
  if (got == -EAGAIN) return;
  if (got == 0) return end(closed(net::Fault::closed, "receive"));
  if (got < 0) return end(net::socket_error(static_cast<int>(-got), "receive"));
  if (carrier_ == Carrier::socket) {
    arrived_.push_back({Bytes(part.begin(), part.begin() + got), {}, network_.packets()});
    return;
  }
  in_.insert(in_.end(), part.begin(), part.begin() + got);
  find_records();
}

void TcpPeer::find_records() {
  std::size_t at = 0;
  while (in_.size() - at >= tcp::RecordMark::kSize) {
    const auto mark = tcp::decode_mark(std::span(in_).subspan(at).first<tcp::RecordMark::kSize>());
    if (record_.size() + mark.length > kMaxRecord) {
      return end(closed(net::Fault::protocol, "receive", "a record of more than 64 MiB"));
    }
    if (in_.size() - at - tcp::RecordMark::kSize < mark.length) break;
    const auto from = in_.begin() + static_cast<std::ptrdiff_t>(at + tcp::RecordMark::kSize);
    record_.insert(record_.end(), from, from + mark.length);
    at += tcp::RecordMark::kSize + mark.length;
    if (!mark.last) continue;
    arrived_.push_back({std::move(record_), {}, network_.packets()});
    record_ = {};
  }
  in_.erase(in_.begin(), in_.begin() + static_cast<std::ptrdiff_t>(at));
}

Result<void> TcpPeer::send(std::span<const std::byte> bytes) {
  if (down_) return fail(*down_);
  if (carrier_ == Carrier::tcp) {
    const auto mark = tcp::encode(tcp::RecordMark{static_cast<std::uint32_t>(bytes.size()), true});
    out_.insert(out_.end(), mark.begin(), mark.end());
  }
  out_.insert(out_.end(), bytes.begin(), bytes.end());
  sent_frame_ = network_.capture() ? network_.packets() + 1 : 0;
  if (stream_) write_some();
  if (down_) return fail(*down_);
  return {};
}

Result<Exposed*> TcpPeer::expose(std::size_t, fabric::Access) {
  return fail(Error::local(EOPNOTSUPP, "chunk", "TCP has no RDMA: no chunk can be sent"));
}

void TcpPeer::close(bool orderly) {
  if (down_) return;
  if (!orderly && fd_ >= 0) {
    const linger now{1, 0};
    (void)::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  }
  end(closed(net::Fault::local_close, "disconnect"));
}

}  // namespace nfsrdma::lab
