#include "fuse/ctl/ask.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "fuse/control/control_directory.h"
#include "fuse/control/socket_file.h"
#include "transport/base/line_text.h"
#include "transport/base/unique_fd.h"
#include "transport/capture/form.h"

namespace nfsrdma::ctl {
namespace {

constexpr std::string_view kOk = "ok\n";
constexpr std::string_view kError = "error: ";

Result<UniqueFd> connect_to(const std::string& path) {
  auto address = fuse::socket_address(path);
  if (!address) return fail_from(address);
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) return fail(Error::from_errno(errno, "socket"));
  const timeval longest{.tv_sec = kPatience.count(), .tv_usec = 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof longest);
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &longest, sizeof longest);
  if (::connect(socket.get(), reinterpret_cast<sockaddr*>(&*address), sizeof *address) != 0) {
    return fail(Error::from_errno(errno, "connect", path));
  }
  return socket;
}

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

Result<std::string> receive_all(int socket, std::size_t longest) {
  constexpr std::size_t kPiece = 65536;
  const auto begun = std::chrono::steady_clock::now();
  std::string text;
  for (;;) {
    const bool late = std::chrono::steady_clock::now() - begun > kPatience;
    if (late || text.size() > longest) {
      return fail(Error::from_errno(late ? ETIMEDOUT : EMSGSIZE, "take the daemon's answer"));
    }
    const std::size_t before = text.size();
    text.resize(before + kPiece);
    const ssize_t got = ::recv(socket, text.data() + before, kPiece, 0);
    text.resize(before + static_cast<std::size_t>(got > 0 ? got : 0));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(Error::from_errno(errno, "wait for the daemon's answer"));
    if (got == 0) return harmless(std::move(text));
  }
}

/// Of those that are meant by `name`. One that is ending counts only where there is no other: a
/// mount that is made anew is asked as soon as it is there.
Result<Mount> only_one(std::vector<Mount> found, const std::string& name) {
  constexpr const char* kStep = "find the mount";
  const auto ending = std::partition(found.begin(), found.end(), [](const Mount& mount) {
    return mount.get("state") != "ending";
  });
  if (ending != found.begin()) found.erase(ending, found.end());
  if (found.size() == 1) return std::move(found.front());
  if (found.empty()) {
    return fail(Error::local(
        ENOENT, kStep, name + ": no daemon of this user answers for it; see nfsrdmactl list"));
  }
  std::string processes;
  for (const Mount& mount : found) {
    processes += (processes.empty() ? "" : ", ") + mount.number("pid");
  }
  return fail(Error::local(
      EBUSY, kStep,
      name + ": there are several: name the process (" + processes + ") or the socket of one"));
}

Result<Mount> identify(const std::string& socket) {
  auto text = ask(socket, "identity");
  if (!text) return fail_from(text);
  Mount mount{socket, {}};
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t space = line.find(' ');
    if (space != std::string::npos) {
      mount.identity[line.substr(0, space)] = unescape_line(line.substr(space + 1));
    }
  }
  return mount;
}

}  // namespace

Result<std::string> ask(const std::string& socket, std::string_view request,
                        std::span<const int> files, std::size_t longest) {
  auto connected = connect_to(socket);
  if (!connected) return fail_from(connected);
  if (send_line(connected->get(), std::string(request) + '\n', files) < 0 && errno != EPIPE) {
    return fail(Error::from_errno(errno, "ask the daemon"));
  }
  auto answer = receive_all(connected->get(), longest);
  if (!answer) return answer;
  if (answer->starts_with(kOk)) return answer->substr(kOk.size());
  if (answer->starts_with(kError)) {
    answer->pop_back();
    return fail(Error::local(EINVAL, "the daemon says", answer->substr(kError.size())));
  }
  return fail(Error::local(EBUSY, "ask the daemon", "too many programs ask it at once"));
}

const std::string& Mount::get(std::string_view name) const {
  static const std::string none;
  const auto place = identity.find(name);
  return place == identity.end() ? none : place->second;
}

std::string Mount::number(std::string_view name) const {
  const std::string& text = get(name);
  const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  return digits ? text : "0";
}

Mounts all_mounts() {
  Mounts mounts;
  for (const auto& socket : fuse::control_sockets()) {
    auto mount = identify(socket);
    if (mount) {
      mounts.answer.push_back(std::move(*mount));
    } else if (!mount.error().is(Layer::system, ECONNREFUSED)) {
      mounts.silent.push_back(mount.error());
    }
  }
  // Not in directories of others, who could make its name lead elsewhere.
  for (const auto& own : fuse::control_directories()) fuse::remove_deserted_sockets(own);
  return mounts;
}

Result<Mount> find_mount(const std::string& name) {
  std::error_code none;
  // Resolves it lexically: a mount whose server is silent must not hang this program.
  const std::string path = std::filesystem::absolute(name, none).lexically_normal();
  struct stat status {};
  if (name.ends_with(".sock") && ::stat(name.c_str(), &status) == 0) return identify(name);
  std::vector<Mount> found = std::move(all_mounts().answer);
  std::erase_if(found, [&](const Mount& mount) {
    return mount.get("pid") != name && mount.get("mount_point") != path &&
           mount.get("mount_point") + "/" != path;
  });
  return only_one(std::move(found), name);
}

}  // namespace nfsrdma::ctl
