#include "fuse/daemon/memory_limit.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string_view>

#include "fuse/ops/file_system.h"

namespace nfsrdma::fuse {
namespace {

constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

/// The number that a file begins with; "max", and a file that is not there: unlimited.
std::uint64_t number_in(const std::string& file) {
  std::ifstream in(file);
  std::uint64_t number = 0;
  return in >> number ? number : kUnlimited;
}

/// Of the cgroup at this path and of those above it, up to `top`. A container may not see its own
/// path: then `top` itself is its cgroup.
std::uint64_t least_upwards(const std::string& top, std::string path, std::string_view file) {
  std::uint64_t least = kUnlimited;
  for (;;) {
    while (path.ends_with('/')) path.pop_back();
    least = std::min(least, number_in(top + path + "/" + std::string(file)));
    if (path.empty()) return least;
    path.erase(path.rfind('/'));
  }
}

bool has_word(std::string_view list, std::string_view word) {
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    if (list.substr(begin, end - begin) == word) return true;
    begin = end + 1;
  }
  return false;
}

/// A line of cgroup(7)'s /proc/PID/cgroup, hierarchy-ID:controller-list:cgroup-path.
std::uint64_t limit_of_line(const std::string& root, const std::string& line) {
  const std::size_t first = line.find(':');
  const std::size_t second = line.find(':', first + 1);
  if (first == std::string::npos || second == std::string::npos) return kUnlimited;
  const std::string controllers = line.substr(first + 1, second - first - 1);
  const std::string path = line.substr(second + 1);
  if (!path.starts_with('/')) return kUnlimited;
  if (has_word(controllers, "memory"))
    return least_upwards(root + "/sys/fs/cgroup/memory", path, "memory.limit_in_bytes");
  if (!controllers.empty()) return kUnlimited;
  std::uint64_t least = kUnlimited;
  for (const std::string_view file : {"memory.max", "memory.high"})
    least = std::min(least, least_upwards(root + "/sys/fs/cgroup", path, file));
  return least;
}

std::uint64_t of_machine(const std::string& root) {
  std::ifstream in(root + "/proc/meminfo");
  std::string word;
  std::uint64_t kibibytes = 0;
  while (in >> word) {
    if (word == "MemTotal:" && in >> kibibytes) return kibibytes << 10;
  }
  return kUnlimited;
}

}  // namespace

std::uint64_t memory_limit(const std::string& root) {
  std::uint64_t least = of_machine(root);
  std::ifstream cgroups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(cgroups, line);)
    least = std::min(least, limit_of_line(root, line));
  return least;
}

std::size_t default_inodes(std::uint64_t memory) {
  // With its names an inode takes about 750 bytes.
  constexpr std::uint64_t kBytesOfInode = 1024;
  constexpr std::uint64_t kPartOfMemory = 8;
  constexpr std::uint64_t kLeast = 4096;
  return std::clamp<std::uint64_t>(memory / kPartOfMemory / kBytesOfInode, kLeast,
                                   InodeTable::kMaxInodes);
}

}  // namespace nfsrdma::fuse
