// FileTable: the descriptors it keeps, and what happens when there are no more.
#include <unistd.h>

#include <cerrno>

#include "tests/responder/nfs/fs/file_table.h"
#include "tests/responder/nfs/fs/proc_path.h"

namespace nfsrdma::responder {

using namespace nfs4;

namespace {

constexpr std::size_t kTriesToClose = 16;
/// Where most files are open the oldest few may all be in use.
constexpr std::size_t kMostNotClosed = 16;
/// The request being handled uses some of the latest.
constexpr std::size_t kKeptInAShortage = 16;

}  // namespace

Outcome<int> FileTable::path_fd(const FileRef& file) {
  if (file->path_fd_) {
    if (file->linked()) {
      file->unlink();
      open_order_.push_back(*file);
    }
    return file->path_fd_.get();
  }
  if (known(file->key()) != file) return refuse(NFS4ERR_STALE);
  UniqueFd fd;
  if (file->by_kernel_handle_) {
    const auto parsed = codec_.open(file->handle_);
    auto opened = open_by_kernel_handle(*parsed->kernel);
    if (!opened) return refuse(opened.error());
    fd = std::move(*opened);
  } else {
    auto opened = open_at_last_place(*file);
    if (!opened) return refuse(opened.error());
    fd = std::move(*opened);
  }
  keep_open(file, std::move(fd));
  return file->path_fd_.get();
}

// Walks down from the nearest ancestor whose descriptor is open; the root's always is.
Outcome<UniqueFd> FileTable::open_at_last_place(const File& file) {
  std::vector<const File*> path;
  const File* step = &file;
  while (step && !step->path_fd_) {
    path.push_back(step);
    step = step->parent_.get();
  }
  if (!step) return refuse(NFS4ERR_STALE);
  UniqueFd fd;
  int directory = step->path_fd_.get();
  for (auto next = path.rbegin(); next != path.rend(); ++next) {
    UniqueFd opened(
        with_room([&] { return ::openat(directory, (*next)->name_.c_str(), kPathFlags); }));
    if (!opened && is_shortage(errno)) return refuse_errno();
    if (!opened) return refuse(NFS4ERR_STALE);
    fd = std::move(opened);
    directory = fd.get();
    const auto stat = stat_fd(directory);
    if (!stat || stat->key() != (*next)->key()) return refuse(NFS4ERR_STALE);
  }
  return fd;
}

void FileTable::keep_open(const FileRef& file, UniqueFd fd) {
  if (descriptors_ >= max_descriptors_ && !close_oldest() && ++not_closed_ >= kMostNotClosed) {
    close_unused();
  }
  if (!file->path_fd_) ++descriptors_;
  file->path_fd_ = std::move(fd);
  if (!file->linked()) open_order_.push_back(*file);
}

bool FileTable::close_oldest() {
  for (std::size_t tries = 0; tries < kTriesToClose && !open_order_.empty(); ++tries) {
    File& oldest = *open_order_.pop_front();
    if (oldest.in_use() || !oldest.can_reopen()) {
      open_order_.push_back(oldest);
      continue;
    }
    close_path(oldest);
    return true;
  }
  return false;
}

void FileTable::close_path(File& file) {
  file.path_fd_.reset();
  --descriptors_;
  const auto place = files_.find(file.key());
  if (file.by_kernel_handle_ && place->second.use_count() == 1) files_.erase(place);
}

void FileTable::close_unused() {
  not_closed_ = 0;
  const std::size_t open = open_order_.size();
  for (std::size_t i = 0; i + kKeptInAShortage < open; ++i) {
    File& oldest = *open_order_.pop_front();
    if (oldest.in_use() || !oldest.can_reopen()) {
      open_order_.push_back(oldest);
    } else {
      close_path(oldest);
    }
  }
}

nfsstat4 FileTable::check_descriptors(std::size_t opens) {
  if (limit_.is_reached(opens + descriptors_)) close_unused();
  return limit_.refuses(opens + descriptors_) ? NFS4ERR_SERVERFAULT : NFS4_OK;
}

// Only descriptors of files that no client has open make room.
int FileTable::with_room(const std::function<int()>& open) {
  int fd = open();
  if (fd >= 0 || !is_shortage(errno)) return fd;
  close_unused();
  fd = open();
  if (fd < 0 && is_shortage(errno)) {
    const int error_number = errno;
    limit_.report();
    errno = error_number;
  }
  return fd;
}

Outcome<UniqueFd> FileTable::open_by_kernel_handle(const KernelHandle& handle) {
  const int fd = with_room([&] {
    errno = 0;
    const auto opened = open_kernel_handle(mount_fd_.get(), handle);
    return opened ? *opened : -1;
  });
  if (fd >= 0) return UniqueFd(fd);
  if (is_shortage(errno)) return refuse_errno();
  return refuse(NFS4ERR_STALE);
}

Outcome<UniqueFd> FileTable::reopen(const Identity& who, const FileRef& file, int flags) {
  const auto fd = path_fd(file);
  if (!fd) return refuse(fd.error());
  const ActAs act(who);
  return reopen_unchecked(file, flags);
}

Outcome<UniqueFd> FileTable::reopen_unchecked(const FileRef& file, int flags) {
  const auto fd = path_fd(file);
  if (!fd) return refuse(fd.error());
  UniqueFd opened(with_room(
      [&] { return ::open(ProcPath(*fd).c_str(), flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); }));
  if (!opened) return refuse_errno();
  return opened;
}

}  // namespace nfsrdma::responder
