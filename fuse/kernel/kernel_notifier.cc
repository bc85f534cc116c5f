#include "fuse/kernel/kernel_notifier.h"

#include <chrono>
#include <memory>
#include <utility>

#include "transport/base/sync/event.h"

namespace nfsrdma::fuse {
namespace {

constexpr Duration kWritePatience = std::chrono::milliseconds(500);
/// The kernel finishes a direct write that came to less than was asked through the page cache, and
/// waits for it with a page locked: it cannot be told from another.
constexpr Duration kDirectPatience = std::chrono::seconds(20);

Task<void> reads_in_flight(const Inode& inode) {
  const std::shared_ptr<OpenView> open = inode.view().open();
  if (open) co_await open->reads.wait();
}

/// Tells the kernel to drop pages, on another thread; then sets `gone` on the shard. The event
/// outlives a caller that has given up.
DropThread::Order drop_order(Reactor& reactor, std::uint64_t inode, PageRange pages,
                             const std::shared_ptr<Event>& gone) {
  return {[=](KernelOrders& kernel) { kernel.drop_pages(inode, pages); },
          reactor.waking_call([gone] { gone->set(); })};
}

}  // namespace

Task<void> KernelNotifier::stop() {
  kernel_.reset();
  co_await drops_.stop(reactor_);
  co_await drops_of_writes_.stop(reactor_);
  co_await names_.stop(reactor_);
}

void KernelNotifier::doubt_names(const Inode& directory, std::vector<std::string> names) {
  if (!kernel_ || names.empty()) return;
  notifications_.add();
  names_doubted_.add(names.size());
  const auto follow = [parent = directory.id(), names = std::move(names)](KernelOrders& kernel) {
    for (const std::string& name : names) kernel.expire_name(parent, name);
  };
  names_.order(kernel_, {follow, nullptr});
}

bool KernelNotifier::forget(std::vector<Known> files, std::function<void()> done) {
  if (!kernel_) return false;
  notifications_.add();
  const auto follow = [files = std::move(files)](KernelOrders& kernel) {
    std::vector<std::uint64_t> inodes;
    for (const Known& known : files) inodes.push_back(known.inode);
    if (kernel.forget_inodes(inodes)) return;
    for (const Known& known : files) {
      if (known.directory != 0) kernel.forget_name(known.directory, known.name);
    }
  };
  names_.order(kernel_, {follow, std::move(done)});
  return true;
}

void KernelNotifier::drop_attributes(std::uint64_t inode) {
  if (!kernel_) return;
  notifications_.add();
  kernel_->drop_attributes(inode);
}

Task<void> KernelNotifier::drop(DropThread& thread, InodeRef inode, PageRange pages,
                                Duration patience) {
  if (!kernel_) co_return;
  notifications_.add();
  KernelView& view = inode->view();
  PageRange dropped = pages;
  if (pages.end >= view.pages_end()) dropped.end = PageRange::all().end;
  const auto gone = std::make_shared<Event>(reactor_);
  view.drop_begins();
  // While a write waits for an answer, the kernel prepares no other from the page cache.
  if (&thread == &drops_) inode->watch_writes();
  thread.order(kernel_, drop_order(reactor_, inode->id(), pages, gone));
  const bool dropped_in_time = co_await gone->wait(patience);
  if (dropped_in_time) {
    view.drop_ends(dropped);
  } else {
    given_up_.add();
    view.drop_ends_unseen();
  }
}

Task<void> KernelNotifier::drop_some_pages(InodeRef inode, PageRange pages) {
  co_await drop(drops_of_writes_, std::move(inode), pages, kWritePatience);
}

Task<void> KernelNotifier::drop_written_pages(InodeRef inode, PageRange pages) {
  co_await reads_in_flight(*inode);
  co_await drop(drops_of_writes_, std::move(inode), pages, TimedWait::kUnbounded);
}

Task<void> KernelNotifier::drop_pages_beside_direct(InodeRef inode, PageRange pages) {
  co_await reads_in_flight(*inode);
  co_await drop(drops_, std::move(inode), pages, kDirectPatience);
}

Task<void> KernelNotifier::drop_pages_now(InodeRef inode) {
  co_await reads_in_flight(*inode);
  co_await drop(drops_, std::move(inode), PageRange::all(), TimedWait::kUnbounded);
}

}  // namespace nfsrdma::fuse
