#include "fuse/kernel/size_revalidator.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "fuse/kernel/inode_table.h"
#include "transport/base/log.h"
#include "transport/base/thread.h"
#include "transport/base/unique_fd.h"

namespace nfsrdma::fuse {
namespace {

/// A write of another caller may come in between again and again.
constexpr int kMostLooks = 50;
/// A look-up waits for changes of the root directory that are in progress.
constexpr Duration kPatience = std::chrono::seconds(2);
constexpr Duration kStopPatience = std::chrono::milliseconds(250);
constexpr Duration kStopInterval = std::chrono::milliseconds(10);

/// Not to be guessed, so that no other program asks for it.
std::string secret_name() {
  std::uint64_t number[2] = {};
  if (::getrandom(number, sizeof number, 0) != sizeof number) return {};
  return fmt::format(".nfsrdma-{:016x}{:016x}", number[0], number[1]);
}

/// The calling thread gets a table of descriptors of its own, with this one only.
bool keep_only(int descriptor) {
  const auto only = static_cast<unsigned>(descriptor);
  const bool alone = ::syscall(SYS_close_range, only + 1, ~0U, CLOSE_RANGE_UNSHARE) == 0;
  return alone && (only == 0 || ::syscall(SYS_close_range, 0U, only - 1, 0U) == 0);
}

/// The size the kernel has for a name that it has to look up.
std::optional<std::uint64_t> size_at(const std::string& path) {
  struct statx found {};
  const int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC;
  if (::statx(AT_FDCWD, path.c_str(), flags, STATX_SIZE, &found) != 0) return std::nullopt;
  return found.stx_size;
}

}  // namespace

struct SizeRevalidator::Shared {
  std::mutex mutex;
  std::condition_variable changed;
  std::string path;
  UniqueFd answered;  ///< an eventfd
  std::optional<std::uint64_t> seen;
  bool asked = false;
  bool ending = false;
  bool ended = false;

  bool has_ended() {
    std::lock_guard lock(mutex);
    return ended;
  }
};

SizeRevalidator::SizeRevalidator(Reactor& reactor, const std::string& mount_point)
    : reactor_(reactor),
      name_(mount_point.empty() ? std::string() : reactor.seen("secret name", secret_name())),
      shared_(std::make_shared<Shared>()),
      one_at_a_time_(reactor) {
  shared_->path = mount_point + "/" + name_;
}

SizeRevalidator::~SizeRevalidator() {
  end_thread();
  if (thread_.joinable()) thread_.detach();
}

Task<void> SizeRevalidator::tell(InodeRef inode) {
  auto guard = co_await one_at_a_time_.lock();
  // A thread that has not come back from an earlier look is not waited for again.
  if (name_.empty() || looking_ || !start_thread()) co_return;
  target_ = inode;
  for (int done = 0; done < kMostLooks && !inode->size_is_shown(); ++done) {
    advertised_.reset();
    const std::optional<std::uint64_t> seen = co_await look();
    if (!seen || !advertised_) break;
    if (*seen == *advertised_) inode->view().size_is(*advertised_);
  }
  target_.reset();
}

/// Nothing when the thread is not back in time, or has found nothing.
Task<std::optional<std::uint64_t>> SizeRevalidator::look() {
  looks_.add();
  looking_ = true;
  Event back(reactor_);
  back_ = &back;
  {
    std::lock_guard lock(shared_->mutex);
    shared_->asked = true;
  }
  shared_->changed.notify_one();
  const bool in_time = co_await back.wait(kPatience);
  back_ = nullptr;
  if (!in_time) co_return std::nullopt;
  std::lock_guard lock(shared_->mutex);
  co_return reactor_.seen("size of a file in the kernel", shared_->seen);
}

bool SizeRevalidator::is_asked_for(const Inode& directory, std::string_view name) const {
  return directory.id() == InodeTable::kRootId && !name_.empty() && name_ == name;
}

Task<void> SizeRevalidator::stop() {
  end_thread();
  if (!thread_.joinable()) co_return;
  for (Duration waited{}; waited < kStopPatience; waited += kStopInterval) {
    if (reactor_.seen("the looking thread has ended", shared_->has_ended())) {
      thread_.join();
      co_return;
    }
    co_await Sleep(reactor_, kStopInterval);
  }
  log::warning("the kernel does not return from looking up a name");
}

void SizeRevalidator::on_ready(std::uint32_t) {
  std::uint64_t count = 0;
  [[maybe_unused]] const auto got = ::read(shared_->answered.get(), &count, sizeof count);
  looking_ = false;
  if (back_) back_->set();
}

bool SizeRevalidator::start_thread() {
  if (ended_) return false;
  if (reactor_.seen("the looking thread has ended", shared_->has_ended())) return false;
  if (thread_.joinable()) return true;
  shared_->answered.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!shared_->answered) return false;
  if (!reactor_.watch(shared_->answered.get(), EPOLLIN, *this)) return false;
  thread_ = start_without_signals(look_when_asked, shared_);
  if (thread_.joinable()) return true;
  reactor_.unwatch(shared_->answered.get());
  shared_->answered.reset();
  return false;
}

void SizeRevalidator::end_thread() {
  if (ended_) return;
  ended_ = true;
  if (!thread_.joinable()) return;
  reactor_.unwatch(shared_->answered.get());
  {
    std::lock_guard lock(shared_->mutex);
    shared_->ending = true;
  }
  shared_->changed.notify_one();
}

void SizeRevalidator::look_when_asked(std::shared_ptr<Shared> shared) {
  const bool alone = keep_only(shared->answered.get());
  std::unique_lock lock(shared->mutex);
  while (!shared->ended) {
    shared->changed.wait(lock, [&] { return shared->ending || shared->asked; });
    shared->asked = false;
    shared->ended = shared->ending || !alone;
    if (!shared->ended) {
      lock.unlock();
      const std::optional<std::uint64_t> seen = size_at(shared->path);
      lock.lock();
      shared->seen = seen;
    }
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(shared->answered.get(), &one, sizeof one);
  }
}

}  // namespace nfsrdma::fuse
