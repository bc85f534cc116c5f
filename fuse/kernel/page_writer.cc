#include "fuse/kernel/page_writer.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <utility>

#include "cache/file/file.h"
#include "fuse/kernel/inode_table.h"
#include "transport/base/log.h"
#include "transport/base/thread.h"
#include "transport/base/unique_fd.h"

namespace nfsrdma::fuse {
namespace {

/// Descriptors that are kept; a process may have 1024 as a rule.
constexpr std::size_t kMostKept = 64;
/// The thread may be waiting for another file's WRITE.
constexpr Duration kClosePatience = std::chrono::seconds(1);
/// How often a writer that may not wait for truncations looks for one.
constexpr Duration kTruncationInterval = std::chrono::milliseconds(20);
constexpr Duration kWriterEndPatience = std::chrono::milliseconds(250);
constexpr Duration kWriterEndInterval = std::chrono::milliseconds(10);

/// Not to be guessed, so that no other program asks for it.
std::string secret_prefix() {
  std::uint64_t number[2] = {};
  if (::getrandom(number, sizeof number, 0) != sizeof number) return {};
  return fmt::format(".nfsrdma-{:016x}{:016x}-", number[0], number[1]);
}

/// The calling thread gets a table of descriptors of its own, with this one only.
bool keep_descriptor_only(int descriptor) {
  const auto only = static_cast<unsigned>(descriptor);
  const bool alone = ::syscall(SYS_close_range, only + 1, ~0U, CLOSE_RANGE_UNSHARE) == 0;
  return alone && (only == 0 || ::syscall(SYS_close_range, 0U, only - 1, 0U) == 0);
}

/// A file that is open in the thread's own table. ThreadSanitizer knows one table for a process,
/// and takes the same number in another for the same file: it does not see bare system calls.
class ThreadsFile {
 public:
  ThreadsFile() = default;
  ThreadsFile(const ThreadsFile&) = delete;
  ThreadsFile& operator=(const ThreadsFile&) = delete;
  ~ThreadsFile() {
    if (descriptor_ >= 0) ::syscall(SYS_close, descriptor_);
  }

  void open(const std::string& path) {
    const int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    descriptor_ = static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path.c_str(), flags, 0));
  }
  bool is_open() const { return descriptor_ >= 0; }
  int get() const { return descriptor_; }

 private:
  int descriptor_ = -1;
};

bool write_pages(int descriptor) {
  constexpr off64_t kFromStart = 0;
  constexpr off64_t kToEnd = 0;
  const unsigned all =
      SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
  // Errors of WRITEs are kept here, not in the kernel (handle::write).
  return ::sync_file_range(descriptor, kFromStart, kToEnd, all) == 0;
}

/// Without a mapping that can be written no page is dirty, and without a page none, either.
bool may_have_stores(const InodeRef& inode) {
  const auto open = inode->open();
  if (!open || !inode->view().pages().any(PageRange::all())) return false;
  bool mappable = false;
  open->files.for_each([&](const cache::File& file) {
    mappable |= !file.released && file.open.share_access() == nfs4::OPEN4_SHARE_ACCESS_BOTH;
  });
  return mappable;
}

}  // namespace

/// What the thread is to do with one file.
struct PageWriter::Order {
  Order(Reactor& reactor, InodeRef of) : inode(std::move(of)), done(reactor) {}
  const InodeRef inode;
  Event done;
  bool opens = false;
  bool succeeded = false;
};

struct PageWriter::Shared {
  struct Work {
    std::uint64_t file = 0;
    bool writes = false;
    bool opens = false;
    bool keeps = false;
  };

  std::mutex mutex;
  std::condition_variable changed;
  std::string prefix;  ///< of the paths
  UniqueFd answered;   ///< an eventfd
  std::deque<Work> waiting;
  std::deque<bool> succeeded;
  std::atomic<pid_t> thread = 0;
  bool ending = false;
  bool ended = false;

  bool has_ended() {
    std::lock_guard lock(mutex);
    return ended;
  }
};

PageWriter::PageWriter(Reactor& reactor, KernelNotifier& notifier, const std::string& mount_point)
    : reactor_(reactor),
      notifier_(notifier),
      name_(mount_point.empty() ? std::string()
                                : reactor.seen("secret name of pages", secret_prefix())),
      shared_(std::make_shared<Shared>()) {
  shared_->prefix = mount_point + "/" + name_;
}

PageWriter::~PageWriter() {
  end_thread();
  if (thread_.joinable()) thread_.detach();
}

bool PageWriter::kept(std::uint64_t inode) const {
  return std::find(kept_.begin(), kept_.end(), inode) != kept_.end();
}

/// Whether the thread can have the pages written without waiting for the caller.
bool PageWriter::may_order(const InodeRef& inode, Opens opens) const {
  if (name_.empty() || ended_ || !notifier_.kernel_waits_for_pages()) return false;
  if (opens != Opens::never) return true;
  const bool opening = std::ranges::any_of(given_, [](const OrderRef& o) { return o->opens; });
  return kept(inode->id()) && !opening;
}

Task<void> PageWriter::write(InodeRef inode, Opens opens) {
  if (!may_have_stores(inode)) co_return;
  // The kernel sends no WRITE of pages meanwhile; the thread is left to other files.
  const std::shared_ptr<OpenView> open = inode->view().open();
  if (open) co_await open->truncations.wait();
  if (!may_have_stores(inode)) co_return;  // closed meanwhile
  bool written = false;
  if (may_order(inode, opens)) written = co_await order(inode, true);
  if (!written) co_await notifier_.drop_pages_now(inode);
}

Task<void> PageWriter::write_unless_truncating(InodeRef inode) {
  const std::shared_ptr<OpenView> open = inode->view().open();
  if (!may_have_stores(inode) || !open || open->truncations.any()) co_return;
  const auto written = std::make_shared<Event>(reactor_);
  spawn(write_and_set(std::move(inode), written));
  // One that begins now keeps the kernel from sending pages. An order that the end of the mount
  // overtakes has no answer.
  while (!written->is_set() && !open->truncations.any() && !ended_)
    co_await written->wait(kTruncationInterval);
}

Task<void> PageWriter::write_and_set(InodeRef inode, std::shared_ptr<Event> written) {
  co_await write(std::move(inode), Opens::never);
  written->set();
}

Task<void> PageWriter::close(InodeRef inode) {
  if (kept(inode->id())) co_await order(std::move(inode), false);
}

void PageWriter::give(OrderRef order, std::uint64_t id, bool writes) {
  orders_.add();
  const bool opens = order->opens;
  given_.push_back(std::move(order));
  {
    std::lock_guard lock(shared_->mutex);
    shared_->waiting.push_back({id, writes, opens, kept(id)});
  }
  shared_->changed.notify_one();
}

/// False when the thread could not do it.
Task<bool> PageWriter::order(InodeRef inode, bool writes) {
  if (!start_thread()) co_return false;
  const std::uint64_t id = inode->id();
  const auto order = std::make_shared<Order>(reactor_, std::move(inode));
  order->opens = writes && !kept(id);
  if (!writes) std::erase(kept_, id);
  if (order->opens) kept_.push_back(id);
  give(order, id, writes);
  if (kept_.size() > kMostKept) {
    const std::uint64_t oldest = kept_.front();
    kept_.pop_front();
    give(std::make_shared<Order>(reactor_, InodeRef()), oldest, false);
  }
  if (!writes) {
    co_await order->done.wait(kClosePatience);
    co_return true;
  }
  co_await order->done.wait();
  if (!order->succeeded) std::erase(kept_, id);
  co_return order->succeeded;
}

InodeRef PageWriter::asked_for(const Inode& directory, std::string_view name, pid_t caller) const {
  if (given_.empty() || !given_.front()->inode || directory.id() != InodeTable::kRootId) return {};
  if (name_.empty() || !name.starts_with(name_)) return {};
  const InodeRef inode = given_.front()->inode;
  if (name.substr(name_.size()) != fmt::format("{:x}", inode->id())) return {};
  return opens(*inode, caller) ? inode : InodeRef();
}

bool PageWriter::opens(const Inode& inode, pid_t caller) const {
  if (given_.empty() || given_.front()->inode.get() != &inode) return false;
  return caller == reactor_.seen("the thread that writes pages", shared_->thread.load());
}

Task<void> PageWriter::stop() {
  end_thread();
  if (thread_.joinable()) co_await end_of_thread();
  // Their callers have nobody to answer.
  for (const OrderRef& order : std::exchange(given_, {})) order->done.set();
}

Task<void> PageWriter::end_of_thread() {
  for (Duration waited{}; waited < kWriterEndPatience; waited += kWriterEndInterval) {
    if (reactor_.seen("the thread that writes pages has ended", shared_->has_ended())) {
      thread_.join();
      co_return;
    }
    co_await Sleep(reactor_, kWriterEndInterval);
  }
  log::warning("the kernel does not return from writing mapped pages");
}

void PageWriter::on_ready(std::uint32_t) {
  std::uint64_t count = 0;
  [[maybe_unused]] const auto got = ::read(shared_->answered.get(), &count, sizeof count);
  std::deque<bool> succeeded;
  {
    std::lock_guard lock(shared_->mutex);
    succeeded.swap(shared_->succeeded);
  }
  const std::size_t done = reactor_.seen("orders to write pages", succeeded.size());
  for (std::size_t i = 0; i < done && !given_.empty(); ++i) {
    const bool success = i < succeeded.size() && succeeded[i];
    const OrderRef order = std::move(given_.front());
    given_.pop_front();
    order->succeeded = reactor_.seen("pages were written", success);
    order->done.set();
  }
}

bool PageWriter::start_thread() {
  if (ended_) return false;
  if (thread_.joinable()) return true;
  shared_->answered.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!shared_->answered) return false;
  if (!reactor_.watch(shared_->answered.get(), EPOLLIN, *this)) return false;
  thread_ = start_without_signals(follow_orders, shared_);
  if (thread_.joinable()) return true;
  reactor_.unwatch(shared_->answered.get());
  shared_->answered.reset();
  name_.clear();  // once is enough for the log
  return false;
}

void PageWriter::end_thread() {
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

/// The thread. It ends with its descriptors.
void PageWriter::follow_orders(std::shared_ptr<Shared> shared) {
  const bool alone = keep_descriptor_only(shared->answered.get());
  shared->thread = ::gettid();
  std::map<std::uint64_t, ThreadsFile> files;
  std::unique_lock lock(shared->mutex);
  for (;;) {
    shared->changed.wait(lock, [&] { return shared->ending || !shared->waiting.empty(); });
    if (shared->ending) break;
    const Shared::Work work = shared->waiting.front();
    shared->waiting.pop_front();
    lock.unlock();
    bool succeeded = alone;
    if (work.writes && alone) {
      ThreadsFile& file = files[work.file];
      // Callers that may not wait for a look-up count on it that none is made unannounced.
      if (work.opens && !file.is_open())
        file.open(fmt::format("{}{:x}", shared->prefix, work.file));
      succeeded = file.is_open() && write_pages(file.get());
    }
    if (!work.keeps || !succeeded) files.erase(work.file);
    lock.lock();
    shared->succeeded.push_back(succeeded);
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(shared->answered.get(), &one, sizeof one);
  }
  lock.unlock();
  files.clear();
  lock.lock();
  shared->ended = true;
}

}  // namespace nfsrdma::fuse
