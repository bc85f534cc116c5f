#include "fuse/ctl/exchange.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "fuse/control/socket_file.h"
#include "transport/base/unique_fd.h"
#include "transport/capture/form.h"

namespace nfsrdma::ctl {
namespace {

using Clock = std::chrono::steady_clock;

/// Descriptors that are in use at once.
constexpr std::size_t kMostAtOnce = 256;
/// Until a socket is tried again whose process has more askers than it takes.
constexpr std::chrono::milliseconds kAgain{10};

/// As send(2).
ssize_t send_line(int socket, std::string line, std::span<const int> files) {
  iovec piece{line.data(), line.size()};
  constexpr std::size_t kMostBytes = capture::kMostFiles * sizeof(int);
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMostBytes)> room{};
  files = files.first(std::min(files.size(), capture::kMostFiles));
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  if (!files.empty()) {
    message.msg_control = room.data();
    message.msg_controllen = CMSG_SPACE(files.size_bytes());
    cmsghdr* const rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(files.size_bytes());
    std::memcpy(CMSG_DATA(rights), files.data(), files.size_bytes());
  }
  return ::sendmsg(socket, &message, MSG_NOSIGNAL);
}

/// Lines only: what else a terminal would obey is taken out.
std::string harmless(std::string text) {
  constexpr unsigned char kFirstPrintable = 0x20;
  constexpr unsigned char kDelete = 0x7f;
  for (char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < kFirstPrintable && c != '\n') || byte == kDelete) c = '?';
  }
  return text;
}

/// Without "ok", or the daemon's error.
Result<std::string> content_of(std::string answer) {
  constexpr std::string_view kOk = "ok\n";
  constexpr std::string_view kError = "error: ";
  if (answer.starts_with(kOk)) return answer.substr(kOk.size());
  if (answer.starts_with(kError)) {
    answer.pop_back();
    return fail(Error::local(EINVAL, "the daemon says", answer.substr(kError.size())));
  }
  return fail(Error::local(EBUSY, "ask the daemon", "too many programs ask it at once"));
}

/// One request, and its answer as far as it has come.
class Exchange {
 public:
  Exchange(const Question& question, Answer& answer) : question_(&question), answer_(&answer) {}

  /// Connects and sends the request, unless the process has too many askers at present.
  void begin() {
    auto sent = connect_and_send();
    if (!sent) return end(fail_from(sent));
    begun_ = *sent;
  }

  void receive() {
    constexpr std::size_t kPiece = 65536;
    const std::size_t before = text_.size();
    text_.resize(before + kPiece);
    const ssize_t got = ::recv(socket_.get(), text_.data() + before, kPiece, 0);
    const int error = errno;
    text_.resize(before + static_cast<std::size_t>(got > 0 ? got : 0));
    if (got < 0 && (error == EINTR || error == EAGAIN)) return;
    if (got < 0) return end(fail(Error::from_errno(error, "wait for the daemon's answer")));
    if (got == 0) return end(content_of(harmless(std::move(text_))));
    if (text_.size() > question_->longest) {
      end(fail(Error::from_errno(EMSGSIZE, "take the daemon's answer")));
    }
  }

  void give_up() {
    end(fail(Error::from_errno(ETIMEDOUT, "wait for the daemon's answer", question_->socket)));
  }

  int socket() const { return socket_.get(); }
  bool begun() const { return begun_; }
  bool ended() const { return ended_; }

 private:
  /// False: later.
  Result<bool> connect_and_send() {
    auto address = fuse::socket_address(question_->socket);
    if (!address) return fail_from(address);
    auto made = fuse::make_socket();
    if (!made) return fail_from(made);
    socket_ = std::move(*made);
    const auto* const there = reinterpret_cast<const sockaddr*>(&*address);
    if (::connect(socket_.get(), there, sizeof *address) != 0) {
      if (errno == EAGAIN || errno == EINTR) return false;
      return fail(Error::from_errno(errno, "connect", question_->socket));
    }
    auto peer = peer_of(socket_.get());
    if (!peer) return fail_from(peer);
    answer_->peer = *peer;
    if (question_->only && *question_->only != *peer) {
      return fail(Error::local(EPERM, "ask the daemon",
                               question_->socket + " is another process's by now"));
    }
    if (send_line(socket_.get(), question_->request + '\n', question_->files) < 0 &&
        errno != EPIPE) {
      return fail(Error::from_errno(errno, "ask the daemon"));
    }
    return true;
  }

  void end(Result<std::string> text) {
    answer_->text = std::move(text);
    ended_ = true;
    socket_.reset();
  }

  const Question* question_;
  Answer* answer_;
  UniqueFd socket_;
  std::string text_;
  bool begun_ = false;
  bool ended_ = false;
};

/// Waits for answers, for the time that is left at most. Those that have not begun are tried again.
void turn(std::vector<Exchange>& running, Clock::duration left) {
  std::vector<pollfd> watched;
  auto longest = std::chrono::ceil<std::chrono::milliseconds>(left);
  for (const Exchange& each : running) {
    watched.push_back({each.begun() ? each.socket() : -1, POLLIN, 0});
    if (!each.begun()) longest = std::min(longest, kAgain);
  }
  ::poll(watched.data(), watched.size(), static_cast<int>(longest.count()));
  for (std::size_t i = 0; i < running.size(); ++i) {
    if (!running[i].begun()) {
      running[i].begin();
    } else if (watched[i].revents != 0) {
      running[i].receive();
    }
  }
}

}  // namespace

std::vector<Answer> ask_all(std::span<const Question> questions) {
  const auto deadline = Clock::now() + kPatience;
  std::vector<Answer> answers(questions.size(), Answer{std::string(), {}});
  std::vector<Exchange> running;
  std::size_t next = 0;
  while (next < questions.size() || !running.empty()) {
    for (; next < questions.size() && running.size() < kMostAtOnce; ++next) {
      running.emplace_back(questions[next], answers[next]).begin();
    }
    std::erase_if(running, [](const Exchange& each) { return each.ended(); });
    if (running.empty()) continue;
    const auto left = deadline - Clock::now();
    if (left > Clock::duration::zero()) {
      turn(running, left);
    } else {
      for (Exchange& each : running) each.give_up();
    }
  }
  return answers;
}

}  // namespace nfsrdma::ctl
