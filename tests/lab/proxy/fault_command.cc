// nfsrdma-lab fault: a line to a control socket, and its answer.
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "tests/lab/proxy/command.h"
#include "tests/lab/script/command_words.h"
#include "tests/lab/subcommand.h"
#include "transport/base/result.h"
#include "transport/base/unique_fd.h"

namespace nfsrdma::lab::proxy {
namespace {

constexpr std::size_t kAnswerPart = 4096;

Result<UniqueFd> connect_to(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return fail(Error::local(ENAMETOOLONG, "control socket", path));
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  if (!fd || ::connect(fd.get(), generic, sizeof address) != 0) {
    return fail(Error::from_errno(errno, "control socket", path));
  }
  return fd;
}

/// Reads up to the line that ends an answer.
Result<std::string> answer_to(const UniqueFd& fd, const std::string& line) {
  if (::send(fd.get(), line.data(), line.size(), MSG_NOSIGNAL) < 0) {
    return fail(Error::from_errno(errno, "control socket"));
  }
  std::string answer;
  std::array<char, kAnswerPart> part;
  for (;;) {
    const auto last = answer.rfind('\n', answer.empty() ? 0 : answer.size() - 2);
    const auto begin = last == std::string::npos ? 0 : last + 1;
    const std::string_view end = std::string_view(answer).substr(begin);
    if (end.ends_with('\n') && (end.starts_with("ok") || end.starts_with("error: "))) return answer;
    const auto count = ::recv(fd.get(), part.data(), part.size(), 0);
    if (count <= 0) return fail(Error::local(EPIPE, "control socket", "closed without an answer"));
    answer.append(part.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace

int run_fault(std::span<char*> words) {
  if (words.size() < 2 || words[0][0] == '-') {
    return script::complain("usage: nfsrdma-lab fault SOCKET COMMAND", kExitUsage);
  }
  std::string line;
  for (const char* word : words.subspan(1)) line += (line.empty() ? "" : " ") + std::string(word);
  auto fd = connect_to(words[0]);
  if (!fd) return script::complain(fd.error().message(), kExitFailed);
  const auto answer = answer_to(*fd, line + "\n");
  if (!answer) return script::complain(answer.error().message(), kExitFailed);
  fmt::print("{}", *answer);
  return answer->starts_with("error: ") ? kExitUsage : 0;
}

}  // namespace nfsrdma::lab::proxy
