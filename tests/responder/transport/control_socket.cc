#include "tests/responder/transport/control_socket.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace nfsrdma::responder {
namespace {

constexpr std::size_t kMaxLine = 4096;
constexpr int kBacklog = 8;

/// Whether a process listens there: the socket of one that has been killed refuses.
bool in_use(const sockaddr_un& address) {
  const UniqueFd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  return probe && (::connect(probe.get(), generic, sizeof address) == 0 || errno == EAGAIN);
}

Result<UniqueFd> listen_on(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return fail(Error::local(ENAMETOOLONG, "control socket", path));
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  // Without this a second start takes the socket from the first one, which cannot be reached then.
  if (in_use(address)) return fail(Error::from_errno(EADDRINUSE, "control socket", path));
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  ::unlink(path.c_str());
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  // The socket is made with this mode: there is no moment at which other users may connect.
  const mode_t before = ::umask(S_IRWXG | S_IRWXO | S_IXUSR);
  const int bound = fd ? ::bind(fd.get(), generic, sizeof address) : -1;
  const int error = errno;
  ::umask(before);
  if (bound != 0) return fail(Error::from_errno(error, "control socket", path));
  if (::listen(fd.get(), kBacklog) != 0) {
    return fail(Error::from_errno(errno, "control socket", path));
  }
  return fd;
}

}  // namespace

/// One connected client of the control socket.
class ControlSocket::Peer final : public FdHandler {
 public:
  Peer(ControlSocket& owner, UniqueFd fd) : owner_(owner), fd_(std::move(fd)) {}
  ~Peer() override { owner_.reactor_.unwatch(fd_.get()); }

  int fd() const { return fd_.get(); }

  void on_ready(std::uint32_t) override {
    std::array<char, kMaxLine> bytes;
    const auto count = ::recv(fd_.get(), bytes.data(), bytes.size(), 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count <= 0 || pending_.size() > kMaxLine) return owner_.remove(*this);
    pending_.append(bytes.data(), static_cast<std::size_t>(count));
    for (auto end = pending_.find('\n'); end != std::string::npos; end = pending_.find('\n')) {
      const std::string line = pending_.substr(0, end);
      pending_.erase(0, end + 1);
      const std::string answer = owner_.run_(line) + "\n";
      // A peer that does not read its answers loses them; nothing here may block.
      ::send(fd_.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
    }
  }

 private:
  ControlSocket& owner_;
  UniqueFd fd_;
  std::string pending_;
};

class ControlSocket::Acceptor final : public FdHandler {
 public:
  explicit Acceptor(ControlSocket& owner) : owner_(owner) {}
  void on_ready(std::uint32_t) override { owner_.accept_one(); }

 private:
  ControlSocket& owner_;
};

ControlSocket::ControlSocket(Reactor& reactor, std::string path, CommandRunner run,
                             UniqueFd listener)
    : reactor_(reactor),
      path_(std::move(path)),
      run_(std::move(run)),
      listener_(std::move(listener)),
      acceptor_(std::make_unique<Acceptor>(*this)) {}

Result<std::unique_ptr<ControlSocket>> ControlSocket::create(Reactor& reactor,
                                                             const std::string& path,
                                                             CommandRunner run) {
  auto listener = listen_on(path);
  if (!listener) return fail_from(listener);
  std::unique_ptr<ControlSocket> socket(
      new ControlSocket(reactor, path, std::move(run), std::move(*listener)));
  TRY(reactor.watch(socket->listener_.get(), EPOLLIN, *socket->acceptor_));
  return socket;
}

ControlSocket::~ControlSocket() {
  peers_.clear();
  reactor_.unwatch(listener_.get());
  ::unlink(path_.c_str());
}

void ControlSocket::accept_one() {
  UniqueFd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!fd) return;
  auto peer = std::make_unique<Peer>(*this, std::move(fd));
  if (!reactor_.watch(peer->fd(), EPOLLIN, *peer)) return;
  peers_.push_back(std::move(peer));
}

void ControlSocket::remove(Peer& peer) {
  const auto place = std::find_if(peers_.begin(), peers_.end(),
                                  [&](const auto& each) { return each.get() == &peer; });
  if (place == peers_.end()) return;
  reactor_.unwatch(peer.fd());
  reactor_.dispose(std::move(*place));
  peers_.erase(place);
}

}  // namespace nfsrdma::responder
