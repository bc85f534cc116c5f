#include "fuse/ops/kernel_notifier.h"

#include <pthread.h>
#include <signal.h>

namespace nfsrdma::fs {
namespace {

constexpr off_t kAttributesOnly = -1;
constexpr off_t kAllPages = 0;

}  // namespace

KernelNotifier::~KernelNotifier() { detach(); }

void KernelNotifier::detach() {
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
  session_ = nullptr;
}

void KernelNotifier::drop_attributes(std::uint64_t inode) {
  if (!session_) return;
  notifications_.add();
  // ENOENT (the kernel has no such inode any more) is as good as success.
  fuse_lowlevel_notify_inval_inode(session_, inode, kAttributesOnly, 0);
}

void KernelNotifier::drop_pages(std::uint64_t inode) {
  if (!session_) return;
  notifications_.add();
  {
    std::lock_guard lock(mutex_);
    if (ending_ || waiting_.size() >= kMostWaiting) return;
    waiting_.push_back(inode);
  }
  changed_.notify_one();
  if (!thread_.joinable()) {
    // Signals are the main thread's.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] { run(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
}

void KernelNotifier::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
    if (ending_) return;
    const std::uint64_t inode = waiting_.front();
    waiting_.pop_front();
    lock.unlock();
    fuse_lowlevel_notify_inval_inode(session_, inode, kAllPages, 0);
    lock.lock();
  }
}

}  // namespace nfsrdma::fs
