#include "fuse/daemon/client_owner.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <functional>
#include <optional>
#include <utility>

#include "transport/base/log.h"

namespace nfsrdma::fuse {
namespace {

constexpr std::size_t kMostBytes = 4096;

std::string first_line_of(const char* file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return {};
  return name.data();
}

std::uint64_t number_of(const char* file) {
  struct stat status {};
  return ::stat(file, &status) == 0 ? status.st_ino : 0;
}

/// Where and for what the owner is of use: what differs in a copy of the file. Empty when the
/// machine cannot be told from others.
std::string circumstances(const struct stat& file, const std::string& key) {
  const std::string boot = first_line_of("/proc/sys/kernel/random/boot_id");
  if (boot.empty()) return {};
  return fmt::format("boot {} machine {} host {} uts {} file {}:{} mount {}", boot,
                     first_line_of("/etc/machine-id"), host_name(), number_of("/proc/self/ns/uts"),
                     file.st_dev, file.st_ino, key);
}

/// FNV-1a: the same in each build.
std::uint64_t hash_of(const std::string& text) {
  constexpr std::uint64_t kBasis = 0xcbf29ce484222325;
  constexpr std::uint64_t kPrime = 0x100000001b3;
  std::uint64_t hash = kBasis;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * kPrime;
  return hash;
}

/// Two lines: the circumstances, and the owner. Empty when it was made under other circumstances.
std::string owner_in(int file, const std::string& wanted) {
  std::string text(kMostBytes, '\0');
  const ssize_t got = ::pread(file, text.data(), text.size(), 0);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  const std::size_t first = text.find('\n');
  if (first == std::string::npos || text.substr(0, first) != wanted) return {};
  const std::size_t second = text.find('\n', first + 1);
  if (second == std::string::npos) return {};
  return text.substr(first + 1, second - first - 1);
}

bool put(int file, const std::string& text) {
  return ::ftruncate(file, 0) == 0 &&
         ::pwrite(file, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
}

/// Whether the path still leads to the file: its last holder may have removed it meanwhile.
bool leads_to(const std::string& path, const struct stat& file) {
  struct stat now {};
  return ::lstat(path.c_str(), &now) == 0 && now.st_dev == file.st_dev && now.st_ino == file.st_ino;
}

/// Open and locked; none when another process has locked it.
std::optional<UniqueFd> lock_file(const std::string& path, struct stat& status) {
  constexpr int kAttempts = 3;
  for (int i = 0; i < kAttempts; ++i) {
    UniqueFd file(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file || ::flock(file.get(), LOCK_EX | LOCK_NB) != 0) return std::nullopt;
    if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
    if (status.st_uid != ::geteuid()) return std::nullopt;
    if (leads_to(path, status)) return file;
  }
  return std::nullopt;
}

}  // namespace

std::unique_ptr<ClientOwner> ClientOwner::take(const std::string& directory, const std::string& key,
                                               const std::string& fresh) {
  // A name that ls(1) does not show among those of sockets.
  const std::string path = fmt::format("{}/.{:016x}.owner", directory, hash_of(key));
  struct stat status {};
  auto file = lock_file(path, status);
  if (!file) return nullptr;
  const std::string now = circumstances(status, key);
  if (now.empty() || now.find('\n') != std::string::npos) return nullptr;
  std::string owner = owner_in(file->get(), now);
  if (owner.empty()) {
    owner = fresh;
    if (!put(file->get(), now + "\n" + owner + "\n")) {
      log::debug("client owner: {}: {}", path, std::strerror(errno));
      ::unlink(path.c_str());
      return nullptr;
    }
  }
  return std::unique_ptr<ClientOwner>(new ClientOwner(std::move(*file), path, std::move(owner)));
}

void ClientOwner::remove() {
  struct stat status {};
  if (::fstat(file_.get(), &status) == 0 && leads_to(path_, status)) ::unlink(path_.c_str());
}

}  // namespace nfsrdma::fuse
