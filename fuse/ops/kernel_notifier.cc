#include "fuse/ops/kernel_notifier.h"

#include <pthread.h>
#include <signal.h>

#include <chrono>
#include <condition_variable>
#include <coroutine>
#include <deque>
#include <functional>
#include <mutex>

#include "fuse/inode/file.h"
#include "transport/base/log.h"

namespace nfsrdma::fs {
namespace {

constexpr off_t kAttributesOnly = -1;
constexpr off_t kAllPages = 0;
constexpr off_t kToTheEnd = 0;
constexpr std::uint64_t kFromTheStart = 0;
constexpr Duration kDropPatience = std::chrono::milliseconds(500);
constexpr Duration kDropInterval = std::chrono::microseconds(100);
constexpr Duration kStopPatience = std::chrono::seconds(1);
constexpr Duration kStopInterval = std::chrono::milliseconds(10);

}  // namespace

struct KernelNotifier::Drop {
  std::uint64_t inode = 0;
  off_t offset = kAllPages;
  off_t length = kToTheEnd;
  std::function<void()> done;  ///< called on the notifier's thread; may be empty
};

struct KernelNotifier::Shared {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Drop> waiting;
  bool ending = false;
  bool ended = true;  ///< no thread runs

  bool has_ended() {
    std::lock_guard lock(mutex);
    return ended;
  }
};

namespace {

/// Sends what is waiting until told to end.
template <class Shared>
void send_notifications(std::shared_ptr<Shared> shared, fuse_session* session) {
  std::unique_lock lock(shared->mutex);
  for (;;) {
    shared->changed.wait(lock, [&] { return shared->ending || !shared->waiting.empty(); });
    if (shared->ending) break;
    auto drop = std::move(shared->waiting.front());
    shared->waiting.pop_front();
    lock.unlock();
    fuse_lowlevel_notify_inval_inode(session, drop.inode, drop.offset, drop.length);
    lock.lock();
    // Operations have ended before the notifier is stopped: nobody is left to be told.
    if (drop.done && !shared->ending) drop.done();
  }
  shared->ended = true;
}

}  // namespace

KernelNotifier::KernelNotifier() : shared_(std::make_shared<Shared>()) {}

KernelNotifier::~KernelNotifier() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard lock(shared_->mutex);
    shared_->ending = true;
  }
  shared_->changed.notify_one();
  if (session_) {
    thread_.join();  // never stopped: nothing holds it but its queue
  } else {
    thread_.detach();
  }
}

void KernelNotifier::attach(fuse_session& session) { session_ = &session; }

Task<void> KernelNotifier::stop(Reactor& reactor) {
  session_ = nullptr;
  if (!thread_.joinable()) co_return;
  {
    std::lock_guard lock(shared_->mutex);
    shared_->ending = true;
  }
  shared_->changed.notify_one();
  for (Duration waited{}; waited < kStopPatience; waited += kStopInterval) {
    if (shared_->has_ended()) {
      thread_.join();
      co_return;
    }
    co_await Sleep(reactor, kStopInterval);
  }
  log::warning("the kernel does not return from dropping cached pages");
}

void KernelNotifier::drop_attributes(std::uint64_t inode) {
  if (!session_) return;
  notifications_.add();
  // ENOENT (the kernel has no such inode any more) is as good as success.
  fuse_lowlevel_notify_inval_inode(session_, inode, kAttributesOnly, kToTheEnd);
}

Task<void> KernelNotifier::drop_some_pages(Reactor& reactor, InodeRef inode, std::uint64_t begin,
                                           std::uint64_t end) {
  if (!session_) co_return;
  auto dropped = std::make_shared<bool>(false);
  Drop drop{inode->id(), static_cast<off_t>(begin), static_cast<off_t>(end - begin), nullptr};
  drop.done = [to = &reactor, dropped] {
    to->wake_from_other_thread([dropped] { *dropped = true; });
  };
  const bool to_the_last = end >= inode->pages_end();
  inode->drop_begins();
  enqueue(std::move(drop));
  for (Duration waited{}; !*dropped && waited < kDropPatience; waited += kDropInterval) {
    co_await Sleep(reactor, kDropInterval);
  }
  if (!*dropped) given_up_.add();
  if (*dropped && to_the_last) {
    inode->drop_ends(begin);
  } else {
    inode->drop_ends_unseen();
  }
}

Task<void> KernelNotifier::drop_pages_now(Reactor& reactor, InodeRef inode) {
  const std::shared_ptr<OpenInode> open = inode->open();
  if (open) co_await open->reads.wait();
  if (!session_) co_return;
  struct Dropping {
    KernelNotifier& notifier;
    Reactor& reactor;
    std::uint64_t inode;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiter) {
      Drop drop;
      drop.inode = inode;
      drop.done = [&to = reactor, waiter] {
        to.wake_from_other_thread([waiter] { waiter.resume(); });
      };
      notifier.enqueue(std::move(drop));
    }
    void await_resume() const noexcept {}
  };
  inode->drop_begins();
  Dropping dropping{*this, reactor, inode->id()};
  co_await dropping;
  inode->drop_ends(kFromTheStart);
}

void KernelNotifier::enqueue(Drop drop) {
  notifications_.add();
  {
    std::lock_guard lock(shared_->mutex);
    shared_->waiting.push_back(std::move(drop));
  }
  shared_->changed.notify_one();
  if (!thread_.joinable()) start_thread();
}

/// Signals are the main thread's.
void KernelNotifier::start_thread() {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  shared_->ended = false;
  thread_ = std::thread(send_notifications<Shared>, shared_, session_);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace nfsrdma::fs
