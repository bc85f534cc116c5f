#include "fuse/control/control_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <filesystem>

#include "fuse/control/socket_file.h"
#include "transport/base/unique_fd.h"

namespace nfsrdma::fuse {
namespace {

namespace files = std::filesystem;

constexpr const char* kEnding = ".sock";
constexpr const char* kForRoot = "/run/nfsrdma";
constexpr const char* kRuntimeDirectories = "/run/user";
constexpr const char* kTemporary = "/tmp";
constexpr std::string_view kTemporaryPrefix = "nfsrdma-";

std::string temporary_directory(uid_t user) {
  return fmt::format("{}/{}{}", kTemporary, kTemporaryPrefix, user);
}

bool is_temporary(std::string_view name) {
  if (!name.starts_with(kTemporaryPrefix)) return false;
  const std::string_view user = name.substr(kTemporaryPrefix.size());
  return !user.empty() && user.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Those of every user, for root.
std::vector<std::string> all_directories() {
  std::vector<std::string> found{kForRoot};
  std::error_code none;
  for (const auto& entry : files::directory_iterator(kRuntimeDirectories, none)) {
    found.push_back(entry.path() / "nfsrdma");
  }
  for (const auto& entry : files::directory_iterator(kTemporary, none)) {
    if (is_temporary(entry.path().filename().string())) found.push_back(entry.path());
  }
  return found;
}

/// Its file descriptor (O_PATH). Fails for a symbolic link, which could lead anywhere, and for a
/// directory that others may write to: they could put sockets of theirs in it. Unless `any_owner`,
/// also for another user's.
Result<UniqueFd> open_checked(const std::string& directory, bool any_owner) {
  constexpr const char* kStep = "directory of control sockets";
  UniqueFd opened(::open(directory.c_str(), O_DIRECTORY | O_NOFOLLOW | O_PATH | O_CLOEXEC));
  struct stat status {};
  if (!opened || ::fstat(opened.get(), &status) != 0) {
    return fail(Error::from_errno(errno, kStep, directory));
  }
  const bool own = any_owner || status.st_uid == ::geteuid();
  if (!own || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return fail(
        Error::local(EPERM, kStep, directory + " is another user's, or others may write to it"));
  }
  return opened;
}

/// Of "1234"; what is no number is no process that could have ended.
bool has_ended(std::string_view process) {
  pid_t pid = 0;
  const char* const end = process.data() + process.size();
  const auto [stop, error] = std::from_chars(process.data(), end, pid);
  if (error != std::errc() || stop != end || pid <= 0) return false;
  return ::kill(pid, 0) != 0 && errno == ESRCH;
}

}  // namespace

std::string control_directory() {
  if (::geteuid() == 0) return kForRoot;
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime && *runtime == '/') return std::string(runtime) + "/nfsrdma";
  return temporary_directory(::geteuid());
}

Result<void> make_control_directory(const std::string& directory) {
  if (::mkdir(directory.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
    return fail(Error::from_errno(errno, "make the directory of control sockets", directory));
  }
  auto opened = open_checked(directory, false);
  if (!opened) return fail_from(opened);
  return {};
}

std::string control_path(const std::string& directory, pid_t pid) {
  return fmt::format("{}/{}{}", directory, pid, kEnding);
}

void remove_deserted_sockets(const std::string& directory) {
  auto opened = open_checked(directory, false);
  if (!opened) return;
  std::error_code none;
  for (const auto& entry : files::directory_iterator(directory, none)) {
    const files::path& path = entry.path();
    // The process of a daemon that starts is there, though it does not listen yet. One of another
    // container, whose processes are not seen from here, listens.
    if (path.extension() != kEnding || !has_ended(path.stem().string())) continue;
    const auto deserted = is_deserted(path);
    if (deserted && *deserted) ::unlinkat(opened->get(), path.filename().c_str(), 0);
  }
}

std::vector<std::string> control_sockets() {
  const bool root = ::geteuid() == 0;
  const auto directories = root ? all_directories() : std::vector<std::string>{control_directory()};
  std::vector<std::string> found;
  for (const auto& directory : directories) {
    if (!open_checked(directory, root)) continue;
    std::error_code none;
    for (const auto& entry : files::directory_iterator(directory, none)) {
      if (entry.path().extension() == kEnding) found.push_back(entry.path());
    }
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace nfsrdma::fuse
