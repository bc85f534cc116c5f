#include "transport/fabric/iwarp/initiator.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>

namespace nfsrdma::fabric::iwarp {
namespace {
constexpr const char* kConnectStep = "connect";
}

Initiator::Initiator(Reactor& reactor, Owner& owner, Counters& counters, const Address& peer,
                     Terms terms, capture::Sink* capture)
    : reactor_(reactor),
      owner_(owner),
      counters_(counters),
      peer_(peer),
      terms_(std::move(terms)),
      capture_(capture),
      timer_(reactor,
             [this] { give_up(net::socket_error(ETIMEDOUT, kConnectStep, peer_.text())); }),
      soon_(reactor,
            [this] { give_up(net::socket_error(early_error_, kConnectStep, peer_.text())); }) {}

Initiator::~Initiator() { close_connection(); }

Result<void> Initiator::start(Duration timeout) {
  timer_.arm(timeout);
  return open_connection(kMpaRevision2);
}

Result<void> Initiator::open_connection(std::uint8_t revision) {
  revision_ = revision;
  auto fd = net::make_socket(peer_.storage.ss_family);
  if (!fd) return fail_from(fd);
  connecting_ = std::move(*fd);
  phase_ = Phase::connecting;
  if (::connect(connecting_.get(), peer_.get(), peer_.length) != 0 && errno != EINPROGRESS) {
    early_error_ = errno;
    soon_.schedule();
    return {};
  }
  return reactor_.watch(connecting_.get(), EPOLLOUT, *this);
}

void Initiator::close_connection() {
  if (connecting_) reactor_.unwatch(connecting_.get());
  if (stream_) reactor_.unwatch(stream_->fd());
  connecting_.reset();
  stream_.reset();
}

void Initiator::on_ready(std::uint32_t) {
  if (auto stepped = step(); !stepped) return give_up(std::move(stepped.error()));
  if (done_) finish();
}

Result<void> Initiator::step() {
  if (phase_ == Phase::connecting) TRY(finish_tcp_connect());
  if (phase_ == Phase::requesting) TRY(send_request());
  if (phase_ == Phase::awaiting_reply) return read_reply();
  return {};
}

Result<void> Initiator::finish_tcp_connect() {
  const int error = net::connect_outcome(connecting_.get());
  if (error != 0) return fail(net::socket_error(error, kConnectStep, peer_.text()));
  std::unique_ptr<capture::Flow> flow;
  if (capture_ != nullptr) {
    const Address local = net::local_address(connecting_.get());
    flow = capture_->open_flow(*local.get(), *peer_.get(), true, capture::Carried::mpa);
  }
  stream_ = std::make_unique<net::TcpStream>(std::move(connecting_), counters_, std::move(flow));
  request_ = encode(make_request(terms_, revision_));
  request_sent_ = 0;
  phase_ = Phase::requesting;
  return {};
}

Result<void> Initiator::send_request() {
  while (request_sent_ < request_.size()) {
    iovec rest{request_.data() + request_sent_, request_.size() - request_sent_};
    const ssize_t put = stream_->write({&rest, 1});
    if (put == -EAGAIN) return {};
    if (put < 0)
      return fail(net::socket_error(static_cast<int>(-put), "MPA startup", peer_.text()));
    request_sent_ += static_cast<std::size_t>(put);
  }
  reader_ = std::make_unique<StartupReader>(StartupFrame::Kind::reply);
  phase_ = Phase::awaiting_reply;
  return reactor_.modify(stream_->fd(), EPOLLIN, *this);
}

Result<void> Initiator::read_reply() {
  auto whole = reader_->read(*stream_);
  if (!whole) return fail_from(whole);
  if (!*whole) return {};
  if (wants_revision_1(reader_->frame(), revision_)) {
    close_connection();
    return open_connection(kMpaRevision1);
  }
  auto agreement = judge_reply(reader_->frame(), terms_, revision_);
  if (!agreement) return fail_from(agreement);
  agreement_ = *agreement;
  done_ = true;
  return {};
}

void Initiator::finish() {
  timer_.cancel();
  reactor_.unwatch(stream_->fd());
  owner_.on_connected(std::move(stream_), agreement_, reader_->frame());
}

void Initiator::give_up(Error reason) {
  timer_.cancel();
  soon_.cancel();
  close_connection();
  owner_.on_connect_failed(std::move(reason));
}

}  // namespace nfsrdma::fabric::iwarp
