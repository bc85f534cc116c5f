// The attributes of a file as this client remembers them: plain values, no views.
#pragma once

#include <cstdint>

namespace nfsrdma::cache {

/// Seconds and nanoseconds since 1970 (nfstime4).
struct FileTime {
  std::int64_t seconds = 0;
  std::uint32_t nanoseconds = 0;

  friend bool operator==(const FileTime&, const FileTime&) = default;
};

/// Identifies one file system of the server (fsid4).
struct FileSystemId {
  std::uint64_t major = 0;
  std::uint64_t minor = 0;

  friend bool operator==(const FileSystemId&, const FileSystemId&) = default;
};

/// The owner and group of a file while the server has not named them.
inline constexpr std::uint32_t kNobody = 65534;

struct FileAttributes {
  std::uint64_t change = 0;      ///< differs whenever data or metadata differ (FATTR4_CHANGE)
  std::uint64_t size = 0;        ///< bytes
  std::uint64_t space_used = 0;  ///< bytes
  std::uint64_t fileid = 0;
  FileSystemId fsid;
  std::uint32_t mode = 0;  ///< file type (S_IFMT) and permission bits
  std::uint32_t links = 0;
  std::uint32_t uid = kNobody;
  std::uint32_t gid = kNobody;
  std::uint32_t device_major = 0;
  std::uint32_t device_minor = 0;
  FileTime access_time;
  FileTime modify_time;
  FileTime change_time;

  friend bool operator==(const FileAttributes&, const FileAttributes&) = default;
};

}  // namespace nfsrdma::cache
