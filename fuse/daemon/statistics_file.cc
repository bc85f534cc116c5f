#include "fuse/daemon/statistics_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <optional>

#include "transport/base/log.h"
#include "transport/base/thread.h"
#include "transport/base/write_all.h"

namespace nfsrdma::fuse {
namespace {

constexpr const char* kStatistics = "stats";
constexpr mode_t kForTheUserAlone = 0600;

}  // namespace

struct StatisticsFile::Shared {
  std::string path;  ///< for messages
  UniqueFd directory;
  std::string name;
  std::mutex mutex;
  std::condition_variable idle;
  std::optional<std::string> next;
  bool writing = false;

  std::string unfinished() const { return name + ".new"; }
  Error error() const { return Error::from_errno(errno, kStatistics, path); }

  /// An old file is removed, not written to: it may be another user's symbolic link.
  Result<UniqueFd> create() const {
    const std::string file = unfinished();
    if (::unlinkat(directory.get(), file.c_str(), 0) != 0 && errno != ENOENT) return fail(error());
    constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    UniqueFd made(::openat(directory.get(), file.c_str(), flags, kForTheUserAlone));
    if (!made) return fail(error());
    return made;
  }

  void remove() const { ::unlinkat(directory.get(), unfinished().c_str(), 0); }

  Result<void> replace(std::string_view text) const {
    auto file = create();
    if (!file) return fail_from(file);
    if (write_all(file->get(), text) &&
        ::renameat(directory.get(), unfinished().c_str(), directory.get(), name.c_str()) == 0) {
      return {};
    }
    auto failed = error();
    remove();
    return fail(std::move(failed));
  }
};

Result<void> check_own_file(const char* option, const std::string& file,
                            const std::string& mount_point) {
  if (file.empty()) return {};
  const auto parent = std::filesystem::path(file).parent_path();
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(parent.c_str(), nullptr),
                                                         &std::free);
  if (!real) return fail(Error::from_errno(errno, option, file));
  const std::string directory = std::string(real.get()) + '/';
  const std::string below = mount_point.ends_with('/') ? mount_point : mount_point + '/';
  if (!directory.starts_with(below)) return {};
  return fail(Error::local(
      EINVAL, option, file + " lies below the mount point; name a file outside of " + mount_point));
}

StatisticsFile::StatisticsFile(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}
StatisticsFile::StatisticsFile(StatisticsFile&&) noexcept = default;
StatisticsFile& StatisticsFile::operator=(StatisticsFile&&) noexcept = default;
StatisticsFile::~StatisticsFile() = default;

Result<StatisticsFile> StatisticsFile::open(const std::string& path) {
  auto shared = std::make_shared<Shared>();
  const std::filesystem::path file(path);
  shared->path = path;
  shared->name = file.filename();
  shared->directory.reset(::open(file.parent_path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!shared->directory) return fail(shared->error());
  struct stat status {};
  const int found =
      ::fstatat(shared->directory.get(), shared->name.c_str(), &status, AT_SYMLINK_NOFOLLOW);
  const bool replaceable = S_ISREG(status.st_mode) || S_ISLNK(status.st_mode);
  if (found == 0 && !replaceable) {
    return fail(Error::local(EINVAL, kStatistics, path + " is not a regular file"));
  }
  auto made = shared->create();
  if (!made) return fail_from(made);
  shared->remove();
  return StatisticsFile(std::move(shared));
}

void StatisticsFile::write(std::string text) {
  {
    std::lock_guard lock(shared_->mutex);
    shared_->next = std::move(text);
    if (shared_->writing) return;
    shared_->writing = true;
  }
  if (start_detached(write_what_waits, shared_)) return;
  std::lock_guard lock(shared_->mutex);
  shared_->next.reset();
  shared_->writing = false;
  shared_->idle.notify_all();
}

bool StatisticsFile::wait(std::chrono::milliseconds patience) {
  std::unique_lock lock(shared_->mutex);
  return shared_->idle.wait_for(lock, patience, [this] { return !shared_->writing; });
}

void StatisticsFile::write_what_waits(const std::shared_ptr<Shared>& shared) {
  std::unique_lock lock(shared->mutex);
  while (shared->next) {
    const std::string text = std::move(*shared->next);
    shared->next.reset();
    lock.unlock();
    auto written = shared->replace(text);
    if (!written) log::error("{}", written.error().message());
    lock.lock();
  }
  shared->writing = false;
  shared->idle.notify_all();
}

}  // namespace nfsrdma::fuse
