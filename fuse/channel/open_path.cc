#include "fuse/channel/open_path.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <limits.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <filesystem>

#include "transport/base/unique_fd.h"

namespace nfsrdma::fuse {
namespace {

/// A line of the log is worth no more: each is two system calls.
constexpr int kDescriptors = 256;
constexpr std::size_t kMostInfo = 512;

/// The line "ino:" of /proc/<pid>/fdinfo/<n>; 0: there is none.
std::uint64_t inode_of(const std::string& info_file) {
  const UniqueFd info(::open(info_file.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, kMostInfo> buffer;
  const auto size = info ? ::read(info.get(), buffer.data(), buffer.size()) : 0;
  if (size <= 0) return 0;
  const std::string_view text(buffer.data(), static_cast<std::size_t>(size));
  auto at = text.find("\nino:");
  if (at == std::string_view::npos) return 0;
  at = text.find_first_of("0123456789", at);
  std::uint64_t inode = 0;
  if (at != std::string_view::npos) {
    std::from_chars(text.data() + at, text.data() + text.size(), inode);
  }
  return inode;
}

/// Of a link of /proc, which tells the name without looking at the file.
std::string target_of(const std::string& link) {
  std::array<char, PATH_MAX> target;
  const auto size = ::readlink(link.c_str(), target.data(), target.size());
  return size <= 0 ? std::string() : std::string(target.data(), static_cast<std::size_t>(size));
}

bool lies_below(std::string_view path, std::string_view directory) {
  if (!path.starts_with(directory)) return false;
  return path.size() == directory.size() || directory.ends_with('/') ||
         path[directory.size()] == '/';
}

}  // namespace

std::string path_of_open_file(pid_t pid, std::uint64_t fileid, std::string_view mount_point) {
  if (pid == 0 || fileid == 0) return {};
  const std::string process = fmt::format("/proc/{}/", pid);
  std::error_code error;
  int left = kDescriptors;
  for (std::filesystem::directory_iterator at(process + "fdinfo", error), end;
       !error && at != end && left > 0; at.increment(error), --left) {
    if (inode_of(at->path()) != fileid) continue;
    std::string path = target_of(process + "fd/" + at->path().filename().string());
    if (lies_below(path, mount_point)) return path;
  }
  return {};
}

}  // namespace nfsrdma::fuse
