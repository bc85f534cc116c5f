// Which file systems of the server have refused data for want of space.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cache/file/inode.h"
#include "transport/base/reactor.h"

namespace nfsrdma::cache {

/// One for each mount; belongs to its shard. Many programs do not look at what close(2) returns,
/// and lose one file after the other if writes to a full file system are answered before they are
/// sent. So a refusal is remembered: a full disk (ENOSPC) for the file system, a quota (EDQUOT) for
/// one user on it.
class FullFileSystems {
 public:
  /// A refusal counts for this long: the space that another client has freed is noticed then, even
  /// if no file here has grown since.
  static constexpr Duration kLongest = std::chrono::seconds(30);
  /// The refusal that will be over first is forgotten for one more.
  static constexpr std::size_t kMost = 64;

  /// The server has refused data of this user with this errno. Other errnos than ENOSPC and EDQUOT
  /// are not about space.
  void refused(const FileSystemId& fsid, std::uint32_t uid, int error_number, TimePoint now);
  /// Data of this user beyond the end of a file is written. Bytes that replace others need no
  /// space, and show nothing.
  void grown(const FileSystemId& fsid, std::uint32_t uid);
  /// Whether data of this user has no room there, as far as is known.
  bool full(const FileSystemId& fsid, std::uint32_t uid, TimePoint now) const;

 private:
  struct Refusal {
    FileSystemId fsid;
    std::uint32_t uid = 0;
    bool of_all_users = false;
    TimePoint until{};

    bool concerns(const FileSystemId& where, std::uint32_t who) const {
      return fsid == where && (of_all_users || uid == who);
    }
  };

  std::vector<Refusal> refusals_;  ///< a new one for the same stands in the place of the old one
};

}  // namespace nfsrdma::cache
