#include "fuse/control/control_socket.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <span>
#include <thread>
#include <utility>

#include "fuse/control/socket_file.h"
#include "transport/base/thread.h"

namespace nfsrdma::fuse {
namespace {

bool is_trusted(int socket) {
  ucred peer{};
  socklen_t length = sizeof peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return false;
  return peer.uid == 0 || peer.uid == ::geteuid();
}

constexpr const char* kStep = "control socket";

/// Removes a socket that no process listens on, and nothing else.
Result<void> remove_stale(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return {};
  if (!S_ISSOCK(status.st_mode)) {
    return fail(Error::local(EEXIST, kStep, path + " is not a socket"));
  }
  auto deserted = is_deserted(path);
  if (!deserted) return fail_from(deserted);
  if (!*deserted) return fail(Error::local(EADDRINUSE, kStep, path + " is in use"));
  ::unlink(path.c_str());
  return {};
}

Result<UniqueFd> listen_at(const std::string& path) {
  auto address = socket_address(path);
  if (!address) return fail_from(address);
  TRY(remove_stale(path));
  auto listener = make_socket();
  if (!listener) return listener;
  // The socket is made with this mode: there is no moment at which others may connect.
  const mode_t before = ::umask(S_IRWXG | S_IRWXO | S_IXUSR);
  const int bound =
      ::bind(listener->get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address);
  const int error = errno;
  ::umask(before);
  if (bound != 0) return fail(Error::from_errno(error, kStep, path));
  if (::listen(listener->get(), ControlSocket::kMostConnections) != 0) {
    return fail(Error::from_errno(errno, kStep, path));
  }
  return listener;
}

}  // namespace

AskersFile::~AskersFile() {
  if (file_) start_detached([file = std::move(file_)]() mutable { file.reset(); });
}

/// One request and its answer.
class ControlSocket::Connection final : public FdHandler {
 public:
  Connection(ControlSocket& owner, UniqueFd socket)
      : owner_(owner),
        reactor_(owner.reactor_),
        socket_(std::move(socket)),
        deadline_(reactor_, [this] { end(); }) {
    deadline_.arm(kPatience);
    const auto watched = reactor_.watch(socket_.get(), EPOLLIN, *this);
    if (!watched) socket_.reset();
  }
  ~Connection() override {
    if (socket_) reactor_.unwatch(socket_.get());
  }

  void on_ready(std::uint32_t) override {
    if (answered_) return send();
    receive();
  }

 private:
  /// As recv(2). The kernel closes descriptors for which there is no room.
  ssize_t receive_with_files(int socket, std::span<char> into) {
    constexpr std::size_t kBytes = kMostFiles * sizeof(int);
    alignas(cmsghdr) std::array<char, CMSG_SPACE(kBytes)> room{};
    iovec piece{into.data(), into.size()};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = room.data();
    message.msg_controllen = CMSG_LEN(kBytes);
    const ssize_t got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    const cmsghdr* const first = got >= 0 ? CMSG_FIRSTHDR(&message) : nullptr;
    if (!first || first->cmsg_level != SOL_SOCKET || first->cmsg_type != SCM_RIGHTS) return got;
    files_.clear();  // a request in two pieces has those of the last one
    for (std::size_t at = CMSG_LEN(0); at + sizeof(int) <= first->cmsg_len; at += sizeof(int)) {
      int descriptor = -1;
      std::memcpy(&descriptor, CMSG_DATA(first) + (at - CMSG_LEN(0)), sizeof descriptor);
      files_.emplace_back(UniqueFd(descriptor));
    }
    return got;
  }

  void receive() {
    const ssize_t got =
        receive_with_files(socket_.get(), {request_.data() + length_, request_.size() - length_});
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) return end();
    length_ += static_cast<std::size_t>(got);
    const std::string_view text(request_.data(), length_);
    const std::size_t line_end = text.find('\n');
    if (line_end != std::string_view::npos)
      return answer(owner_.handler_(text.substr(0, line_end), std::move(files_)));
    if (length_ == request_.size()) {
      answer(fail(Error::local(EMSGSIZE, "control", "the request is too long")));
    }
  }

  void answer(Result<std::string> result) {
    answered_ = true;
    answer_ = result ? "ok\n" + *result : "error: " + result.error().message() + '\n';
    const auto watched = reactor_.modify(socket_.get(), EPOLLOUT, *this);
    if (!watched) return end();
    send();
  }

  void send() {
    const std::size_t left = answer_.size() - sent_;
    const ssize_t sent = ::send(socket_.get(), answer_.data() + sent_, left, MSG_NOSIGNAL);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (sent < 0 || static_cast<std::size_t>(sent) == left) return end();
    sent_ += static_cast<std::size_t>(sent);
  }

  void end() {
    deadline_.cancel();
    owner_.end(*this);
  }

  ControlSocket& owner_;
  Reactor& reactor_;  // the owner may be gone when this one is disposed of
  UniqueFd socket_;
  Timer deadline_;
  std::array<char, kLongestRequest> request_;
  AskersFiles files_;  ///< that came with the request
  std::size_t length_ = 0;
  std::string answer_;
  std::size_t sent_ = 0;
  bool answered_ = false;
};

Result<std::unique_ptr<ControlSocket>> ControlSocket::create(Reactor& reactor,
                                                             const std::string& path,
                                                             ControlHandler handler) {
  const std::filesystem::path file(path);
  UniqueFd directory(::open(file.parent_path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return fail(Error::from_errno(errno, kStep, path));
  auto listener = listen_at(path);
  if (!listener) return fail_from(listener);
  std::unique_ptr<ControlSocket> made(
      new ControlSocket(reactor, Place{std::move(directory), file.filename()}, std::move(handler),
                        std::move(*listener)));
  TRY(reactor.watch(made->listener_.get(), EPOLLIN, *made));
  return made;
}

ControlSocket::ControlSocket(Reactor& reactor, Place place, ControlHandler handler,
                             UniqueFd listener)
    : reactor_(reactor),
      place_(std::move(place)),
      handler_(std::move(handler)),
      listener_(std::move(listener)),
      pause_(reactor, [this] { resume(); }) {}

ControlSocket::~ControlSocket() {
  connections_.clear();
  reactor_.unwatch(listener_.get());
  ::unlinkat(place_.directory.get(), place_.name.c_str(), 0);
}

void ControlSocket::on_ready(std::uint32_t) {
  UniqueFd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!socket) {
    const bool later = errno != EAGAIN && errno != EINTR && errno != ECONNABORTED;
    if (later) pause();
    return;
  }
  const bool room = connections_.size() < kMostConnections;
  if (!room || !is_trusted(socket.get())) return;  // closes it
  connections_.push_back(std::make_unique<Connection>(*this, std::move(socket)));
}

/// Without a free descriptor the listener would stay ready, and the shard would do nothing else.
void ControlSocket::pause() {
  reactor_.unwatch(listener_.get());
  pause_.arm(kPause);
}

void ControlSocket::resume() {
  const auto watched = reactor_.watch(listener_.get(), EPOLLIN, *this);
  if (!watched) pause_.arm(kPause);
}

/// The connection's own function is still running.
void ControlSocket::end(const Connection& connection) {
  const auto place = std::ranges::find_if(
      connections_, [&](const auto& each) { return each.get() == &connection; });
  if (place == connections_.end()) return;
  reactor_.dispose(std::move(*place));
  connections_.erase(place);
}

}  // namespace nfsrdma::fuse
