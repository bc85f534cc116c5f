// An inode's attributes in the file system.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <cstdint>
#include <functional>

#include "tests/responder/nfs/fs/outcome.h"

namespace nfsrdma::responder {

/// An inode, told from a later one with the same number by its time of birth.
struct InodeKey {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t birth = 0;  ///< ns since the epoch; 0 where the file system keeps none

  friend bool operator==(const InodeKey&, const InodeKey&) = default;
};

struct InodeKeyHash {
  std::size_t operator()(const InodeKey& key) const {
    constexpr std::uint64_t kOddMultiplier = 0x9e3779b97f4a7c15;
    return (key.inode ^ key.device << 48 ^ key.birth >> 7) * kOddMultiplier >> 16;
  }
};

/// A statx(2) result.
struct FileStat {
  struct statx x = {};

  InodeKey key() const;
  std::uint32_t format() const { return x.stx_mode & S_IFMT; }
  bool is_directory() const { return format() == S_IFDIR; }
  bool is_regular() const { return format() == S_IFREG; }
  std::uint64_t device() const;
  std::uint64_t ctime_ns() const;
};

/// Of the inode a descriptor stands for (O_PATH will do).
Outcome<FileStat> stat_fd(int fd);
/// Of a name in a directory; a symbolic link is not followed.
Outcome<FileStat> stat_at(int directory, const char* name);

}  // namespace nfsrdma::responder
