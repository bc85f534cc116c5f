#include "tests/responder/fabric/iwarp_listener.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "tests/responder/fabric/iwarp_request.h"
#include "tests/responder/fabric/mpa_answer.h"
#include "tests/support/listening_socket.h"
#include "transport/base/log.h"

namespace nfsrdma::fabric::iwarp {
namespace {

constexpr int kAcceptsPerTurn = 16;
/// At most so many connections wait for an MPA Request, which a peer sends at once. With one more
/// the oldest is closed, so that silent peers do not keep others out.
constexpr std::size_t kMaxHandshakes = 64;
constexpr Duration kHandshakeTimeout = std::chrono::seconds(10);
/// How long nothing is accepted after a shortage of descriptors.
constexpr Duration kAcceptPause = std::chrono::milliseconds(100);

}  // namespace

/// One accepted connection until its MPA Request is whole.
class IwarpListener::Handshake final : public FdHandler {
 public:
  Handshake(IwarpListener& listener, UniqueFd socket)
      : listener_(listener),
        stream_(std::move(socket), counters_, nullptr),
        reader_(StartupFrame::Kind::request),
        timer_(listener.reactor_, [this] { give_up("no MPA Request in time"); }) {}
  ~Handshake() override { stop(); }

  Result<void> start() {
    timer_.arm(kHandshakeTimeout);
    return listener_.reactor_.watch(stream_.fd(), EPOLLIN, *this);
  }

  void give_up(const std::string& why) {
    log::info("iwarp: connection from {} refused: {}", net::peer_address(stream_.fd()).text(), why);
    stop();
    listener_.completed(*this, false);
  }

  UniqueFd release() { return stream_.release(); }
  const StartupFrame& request() const { return reader_.frame(); }

 private:
  void on_ready(std::uint32_t) override {
    auto whole = reader_.read(stream_);
    if (!whole) return give_up(whole.error().message());
    if (!*whole) return;
    auto judged = judge_request(reader_.frame());
    if (!judged) {
      send_rejection(stream_.fd(), reader_.frame(), {});
      return give_up(judged.error().message());
    }
    stop();
    listener_.completed(*this, true);
  }

  void stop() {
    timer_.cancel();
    if (watched_) listener_.reactor_.unwatch(stream_.fd());
    watched_ = false;
  }

  IwarpListener& listener_;
  Counters counters_;
  net::TcpStream stream_;
  StartupReader reader_;
  Timer timer_;
  bool watched_ = true;
};

IwarpListener::IwarpListener(Reactor& reactor, std::shared_ptr<StagTable> stags,
                             ListenHandler& handler)
    : reactor_(reactor),
      stags_(std::move(stags)),
      handler_(handler),
      resume_timer_(reactor, [this] { resume(); }) {}

IwarpListener::~IwarpListener() {
  if (socket_) reactor_.unwatch(socket_.get());
}

Result<void> IwarpListener::start(const Address& local) {
  auto socket = net::make_listening_socket(local);
  if (!socket) return fail_from(socket);
  socket_ = std::move(*socket);
  return reactor_.watch(socket_.get(), EPOLLIN, *this);
}

void IwarpListener::on_ready(std::uint32_t) {
  for (int round = 0; round < kAcceptsPerTurn; ++round) {
    UniqueFd connection(::accept4(socket_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (connection) {
      add(std::move(connection));
      continue;
    }
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      log::warning("iwarp: cannot accept: {}", std::strerror(errno));
      return pause();
    }
    if (errno == EAGAIN) return;
    // Any other error concerns only the connection that was being accepted (accept(2)).
  }
}

void IwarpListener::pause() {
  reactor_.unwatch(socket_.get());
  resume_timer_.arm(kAcceptPause);
}

void IwarpListener::resume() {
  if (auto watched = reactor_.watch(socket_.get(), EPOLLIN, *this); !watched) {
    log::warning("iwarp: {}", watched.error().message());
    resume_timer_.arm(kAcceptPause);
  }
}

void IwarpListener::add(UniqueFd connection) {
  net::set_connection_options(connection.get());
  auto handshake = std::make_unique<Handshake>(*this, std::move(connection));
  if (auto started = handshake->start(); !started) {
    log::warning("iwarp: {}", started.error().message());
    return;
  }
  handshakes_.push_back(std::move(handshake));
  if (handshakes_.size() > kMaxHandshakes) handshakes_.front()->give_up("others wait");
}

void IwarpListener::completed(Handshake& handshake, bool usable) {
  auto place = std::find_if(handshakes_.begin(), handshakes_.end(),
                            [&](const auto& each) { return each.get() == &handshake; });
  std::unique_ptr<Handshake> done = std::move(*place);
  handshakes_.erase(place);
  Reactor& reactor = reactor_;  // the consumer may destroy the listener in its call
  if (usable) {
    auto request =
        std::make_unique<IwarpConnectRequest>(reactor_, stags_, done->release(), done->request());
    handler_.on_connect_request(std::move(request));
  }
  reactor.dispose(std::move(done));  // one of its functions is still on the stack
}

}  // namespace nfsrdma::fabric::iwarp
