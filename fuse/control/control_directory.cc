#include "fuse/control/control_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "fuse/control/socket_file.h"
#include "transport/base/line_text.h"
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

/// A directory of control sockets, and whose it must be.
struct Place {
  std::string path;
  uid_t owner = 0;
};

/// Those of every user, for root. A directory that is not the one's in whose name it is might have
/// sockets that answer for mounts of others.
std::vector<Place> all_directories() {
  std::vector<Place> found{{kForRoot, 0}};
  std::error_code none;
  for (const auto& entry : files::directory_iterator(kRuntimeDirectories, none)) {
    const auto user = whole_number<uid_t>(entry.path().filename().string());
    if (user) found.push_back({entry.path() / "nfsrdma", *user});
  }
  for (const auto& entry : files::directory_iterator(kTemporary, none)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kTemporaryPrefix)) continue;
    const auto user = whole_number<uid_t>(std::string_view(name).substr(kTemporaryPrefix.size()));
    if (user) found.push_back({entry.path(), *user});
  }
  return found;
}

/// Its file descriptor (O_PATH). Fails for a symbolic link, which could lead anywhere, and for a
/// directory that others may write to: they could put sockets of theirs in it. Also for one that is
/// not the user's.
Result<UniqueFd> open_checked(const std::string& directory, uid_t user) {
  constexpr const char* kStep = "directory of control sockets";
  UniqueFd opened(::open(directory.c_str(), O_DIRECTORY | O_NOFOLLOW | O_PATH | O_CLOEXEC));
  struct stat status {};
  if (!opened || ::fstat(opened.get(), &status) != 0) {
    return fail(Error::from_errno(errno, kStep, directory));
  }
  if (status.st_uid != user || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return fail(
        Error::local(EPERM, kStep, directory + " is another user's, or others may write to it"));
  }
  return opened;
}

bool same_directory(const struct stat& one, const struct stat& two) {
  return one.st_dev == two.st_dev && one.st_ino == two.st_ino;
}

std::vector<std::string> sockets_in(const std::string& directory) {
  std::vector<std::string> found;
  std::error_code none;
  for (const auto& entry : files::directory_iterator(directory, none)) {
    if (entry.path().extension() == kEnding) found.push_back(entry.path());
  }
  std::ranges::sort(found);
  return found;
}

/// Of "1234"; what is no number is no process that could have ended.
bool has_ended(std::string_view process) {
  const auto pid = whole_number<pid_t>(process);
  return pid && *pid > 0 && ::kill(*pid, 0) != 0 && errno == ESRCH;
}

}  // namespace

std::string control_directory() {
  if (::geteuid() == 0) return kForRoot;
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime && *runtime == '/') return std::string(runtime) + "/nfsrdma";
  return temporary_directory(::geteuid());
}

std::vector<std::string> control_directories() {
  const uid_t user = ::geteuid();
  std::vector<std::string> all{control_directory()};
  if (user == 0) return all;
  for (const std::string& other :
       {fmt::format("{}/{}/nfsrdma", kRuntimeDirectories, user), temporary_directory(user)}) {
    if (other != all.front()) all.push_back(other);
  }
  return all;
}

Result<void> make_control_directory(const std::string& directory) {
  if (::mkdir(directory.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
    return fail(Error::from_errno(errno, "make the directory of control sockets", directory));
  }
  auto opened = open_checked(directory, ::geteuid());
  if (!opened) return fail_from(opened);
  return {};
}

std::string control_path(const std::string& directory, pid_t pid) {
  return fmt::format("{}/{}{}", directory, pid, kEnding);
}

void remove_deserted_sockets(const std::string& directory) {
  auto opened = open_checked(directory, ::geteuid());
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

std::vector<SocketOfUser> control_sockets() {
  const uid_t user = ::geteuid();
  std::vector<Place> places;
  if (user == 0) {
    places = all_directories();
  } else {
    for (auto& own : control_directories()) places.push_back({std::move(own), user});
  }
  std::vector<std::pair<std::size_t, SocketOfUser>> found;  // its number in its directory
  std::vector<struct stat> looked;  // the environment may have another name for one of them
  for (const auto& place : places) {
    auto opened = open_checked(place.path, place.owner);
    struct stat status {};
    if (!opened || ::fstat(opened->get(), &status) != 0) continue;
    if (std::ranges::any_of(looked, [&](const auto& one) { return same_directory(one, status); })) {
      continue;
    }
    looked.push_back(status);
    const auto here = sockets_in(place.path);
    for (std::size_t i = 0; i < here.size(); ++i) found.push_back({i, {here[i], place.owner}});
  }
  std::ranges::stable_sort(found, {}, [](const auto& each) { return each.first; });
  std::vector<SocketOfUser> sockets;
  for (auto& each : found) sockets.push_back(std::move(each.second));
  return sockets;
}

}  // namespace nfsrdma::fuse
