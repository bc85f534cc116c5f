#include "fuse/ctl/peer.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

#include "transport/base/line_text.h"

namespace nfsrdma::ctl {
namespace {

std::string proc_text(pid_t process, std::string_view file) {
  std::ifstream in(fmt::format("/proc/{}/{}", process, file));
  return {std::istreambuf_iterator<char>(in), {}};
}

/// 0 for a process that is not there.
std::uint64_t begin_of(pid_t process) {
  constexpr int kStartTime = 22;  // proc(5); the name of the program before it may have blanks
  constexpr int kAfterName = 3;
  const std::string text = proc_text(process, "stat");
  const std::size_t name_end = text.rfind(')');
  if (process <= 0 || name_end == std::string::npos) return 0;
  std::istringstream fields(text.substr(name_end + 1));
  std::string word;
  for (int field = kAfterName; field <= kStartTime; ++field) fields >> word;
  return whole_number<std::uint64_t>(word).value_or(0);
}

/// The effective user. The owner of /proc/PID is another one where the process cannot be traced.
std::optional<uid_t> user_of(pid_t process) {
  std::istringstream status(proc_text(process, "status"));
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("Uid:")) continue;
    std::istringstream ids(line.substr(std::string_view("Uid:").size()));
    uid_t real = 0;
    uid_t effective = 0;
    if (ids >> real >> effective) return effective;
  }
  return std::nullopt;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

/// Of the options of a super block.
std::optional<uid_t> user_id_in(std::string_view options) {
  constexpr std::string_view kName = "user_id=";
  for (const std::string_view each : split(options, ',')) {
    if (each.starts_with(kName)) return whole_number<uid_t>(each.substr(kName.size()));
  }
  return std::nullopt;
}

}  // namespace

Result<Peer> peer_of(int socket) {
  ucred peer{};
  socklen_t length = sizeof peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) {
    return fail(Error::from_errno(errno, "whose socket is it"));
  }
  return Peer{peer.uid, peer.pid, begin_of(peer.pid)};
}

bool is_trusted(const Peer& peer) { return peer.user == 0 || peer.user == ::geteuid(); }

std::optional<uid_t> mounter_of(std::string_view mountinfo, std::string_view mount_point) {
  // proc(5): id parent major:minor root mount-point options tags... - type source super-options
  constexpr std::size_t kMountPoint = 4;
  std::optional<uid_t> mounter;
  while (!mountinfo.empty()) {
    const auto words = split(take_line(mountinfo), ' ');
    const auto separator = std::ranges::find(words, "-");
    if (words.end() - separator < 4 || words.size() <= kMountPoint) continue;
    if (unescape_line(words[kMountPoint]) != mount_point) continue;
    const bool ours = separator[1] == "fuse.nfsrdma" || separator[1] == "fuse";
    mounter = ours ? user_id_in(separator[3]) : std::nullopt;
  }
  return mounter;
}

Result<void> check_claim(const Peer& peer, std::string_view process, std::string_view mount_point,
                         std::string_view mountinfo) {
  if (is_trusted(peer)) return {};
  const bool of_user = whole_number<pid_t>(process) == peer.process && peer.process > 0 &&
                       user_of(peer.process) == peer.user;
  if (of_user && mounter_of(mountinfo, mount_point) == peer.user) return {};
  return fail(Error::local(
      EPERM, "find the mounts",
      fmt::format(
          "a program of user {} says that it is process {}, which serves {}: that is not so",
          peer.user, escape_line(process), escape_line(mount_point))));
}

std::string mountinfo_text() {
  std::ifstream file("/proc/self/mountinfo");
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace nfsrdma::ctl
