#include "tests/responder/nfs/fs/file_stat.h"

#include <sys/sysmacros.h>

namespace nfsrdma::responder {

namespace {

constexpr std::uint64_t kNanosecondsPerSecond = 1'000'000'000;
constexpr unsigned kWanted = STATX_BASIC_STATS | STATX_BTIME;

std::uint64_t in_ns(const statx_timestamp& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * kNanosecondsPerSecond + time.tv_nsec;
}

}  // namespace

InodeKey FileStat::key() const {
  return {device(), x.stx_ino, (x.stx_mask & STATX_BTIME) != 0 ? in_ns(x.stx_btime) : 0};
}

std::uint64_t FileStat::device() const { return makedev(x.stx_dev_major, x.stx_dev_minor); }

std::uint64_t FileStat::ctime_ns() const { return in_ns(x.stx_ctime); }

Outcome<FileStat> stat_fd(int fd) {
  FileStat stat;
  if (::statx(fd, "", AT_EMPTY_PATH, kWanted, &stat.x) != 0) return refuse_errno();
  return stat;
}

Outcome<FileStat> stat_at(int directory, const char* name) {
  FileStat stat;
  if (::statx(directory, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, kWanted, &stat.x) != 0) {
    return refuse_errno();
  }
  return stat;
}

}  // namespace nfsrdma::responder
