#include "tests/responder/transport/control_socket.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

namespace nfsrdma::responder {
namespace {

constexpr std::size_t kMaxLine = 4096;
constexpr int kBacklog = 8;

class TextVisitor final : public CounterVisitor {
 public:
  void visit(std::string_view name, std::uint64_t value) override {
    text += std::string(name) + " " + std::to_string(value) + "\n";
  }
  std::string text;
};

std::string add_fault(Responder& responder, const std::string& spec) {
  auto id = responder.add_fault(spec);
  if (!id) return "error: " + id.error().message();
  return "ok " + std::to_string(*id);
}

std::string remove_fault(Responder& responder, const std::string& text) {
  std::uint32_t id = 0;
  std::from_chars(text.data(), text.data() + text.size(), id);
  return responder.remove_fault(id) ? "ok" : "error: no such rule";
}

std::string stats(const Responder& responder) {
  TextVisitor visitor;
  responder.visit_counters(visitor);
  return visitor.text + "ok";
}

Result<UniqueFd> listen_on(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return fail(Error::local(ENAMETOOLONG, "control socket", path));
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  ::unlink(path.c_str());
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  if (!fd || ::bind(fd.get(), generic, sizeof address) != 0 || ::listen(fd.get(), kBacklog) != 0) {
    return fail(Error::from_errno(errno, "control socket", path));
  }
  return fd;
}

}  // namespace

std::string run_command(Responder& responder, const std::string& line) {
  const auto space = std::min(line.find(' '), line.size());
  const std::string command = line.substr(0, space);
  const std::string argument = line.substr(std::min(space + 1, line.size()));
  if (command == "fault") return add_fault(responder, argument);
  if (command == "remove") return remove_fault(responder, argument);
  if (command == "stats") return stats(responder);
  if (command == "clear") {
    responder.clear_faults();
  } else if (command == "stop") {
    responder.stop_answering();
  } else if (command == "continue") {
    responder.resume_answering();
  } else if (command == "disconnect") {
    responder.disconnect_all("control socket");
  } else {
    return "error: no command '" + command + "'";
  }
  return "ok";
}

/// One connected client of the control socket.
class ControlSocket::Peer final : public FdHandler {
 public:
  Peer(ControlSocket& owner, UniqueFd fd) : owner_(owner), fd_(std::move(fd)) {}
  ~Peer() override { owner_.reactor_.unwatch(fd_.get()); }

  int fd() const { return fd_.get(); }

  void on_ready(std::uint32_t) override {
    std::array<char, kMaxLine> octets;
    const auto count = ::recv(fd_.get(), octets.data(), octets.size(), 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count <= 0 || pending_.size() > kMaxLine) return owner_.remove(*this);
    pending_.append(octets.data(), static_cast<std::size_t>(count));
    for (auto end = pending_.find('\n'); end != std::string::npos; end = pending_.find('\n')) {
      const std::string line = pending_.substr(0, end);
      pending_.erase(0, end + 1);
      const std::string answer = run_command(owner_.responder_, line) + "\n";
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

ControlSocket::ControlSocket(Reactor& reactor, Responder& responder, std::string path,
                             UniqueFd listener)
    : reactor_(reactor),
      responder_(responder),
      path_(std::move(path)),
      listener_(std::move(listener)),
      acceptor_(std::make_unique<Acceptor>(*this)) {}

Result<std::unique_ptr<ControlSocket>> ControlSocket::create(Reactor& reactor, Responder& responder,
                                                             const std::string& path) {
  auto listener = listen_on(path);
  if (!listener) return fail_from(listener);
  std::unique_ptr<ControlSocket> socket(
      new ControlSocket(reactor, responder, path, std::move(*listener)));
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
