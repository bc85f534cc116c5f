#include "fuse/ops/kernel_notifier.h"

#include <chrono>
#include <memory>
#include <utility>

#include "fuse/inode/file.h"
#include "transport/base/sync/event.h"

namespace nfsrdma::fuse {
namespace {

constexpr std::int64_t kAttributesOnly = -1;
constexpr std::int64_t kToTheEnd = 0;
constexpr Duration kWritePatience = std::chrono::milliseconds(500);
/// The kernel finishes a direct write that came to less than was asked through the page cache, and
/// waits for it with a page locked: it cannot be told from another.
constexpr Duration kDirectPatience = std::chrono::seconds(20);

/// To the kernel a length of 0 is all that follows.
std::int64_t length_of(const PageRange& pages) {
  return pages.end == PageRange::all().end ? 0 : static_cast<std::int64_t>(pages.end - pages.begin);
}

Task<void> reads_in_flight_set(const Inode& inode) {
  const std::shared_ptr<OpenInode> open = inode.open();
  if (open) co_await open->reads.wait();
}

}  // namespace

namespace {

/// Tells the kernel to drop pages, on another thread; then sets `gone` on the shard. The event
/// outlives a caller that has given up.
DropThread::Order drop_order(Reactor& reactor, std::uint64_t inode, PageRange pages,
                             std::shared_ptr<Event> gone) {
  const auto begin = static_cast<std::int64_t>(pages.begin);
  const std::int64_t length = length_of(pages);
  return {[=](KernelChannel& channel) { notify_inval_inode(channel, inode, begin, length); },
          [&reactor, gone] { reactor.wake_from_other_thread([gone] { gone->set(); }); }};
}

}  // namespace

Task<void> KernelNotifier::stop(Reactor& reactor) {
  channel_ = nullptr;
  co_await drops_.stop(reactor);
  co_await drops_of_writes_.stop(reactor);
  co_await names_.stop(reactor);
}

void KernelNotifier::doubt_names(const Inode& directory, std::vector<std::string> names) {
  if (!channel_ || names.empty()) return;
  notifications_.add();
  names_doubted_.add(names.size());
  const auto follow = [parent = directory.id(), names = std::move(names)](KernelChannel& channel) {
    for (const std::string& name : names) notify_expire_entry(channel, parent, name);
  };
  names_.order(*channel_, {follow, nullptr});
}

void KernelNotifier::drop_attributes(std::uint64_t inode) {
  if (!channel_) return;
  notifications_.add();
  // ENOENT (the kernel has no such inode any more) is as good as success.
  notify_inval_inode(*channel_, inode, kAttributesOnly, kToTheEnd);
}

Task<void> KernelNotifier::drop(DropThread& thread, Reactor& reactor, InodeRef inode,
                                PageRange pages, Duration patience) {
  if (!channel_) co_return;
  notifications_.add();
  PageRange dropped = pages;
  if (pages.end >= inode->pages_end()) dropped.end = PageRange::all().end;
  const auto gone = std::make_shared<Event>(reactor);
  inode->drop_begins();
  // While a write waits for an answer, the kernel prepares no other from the page cache.
  if (&thread == &drops_) inode->watch_writes();
  thread.order(*channel_, drop_order(reactor, inode->id(), pages, gone));
  const bool dropped_in_time = co_await gone->wait(patience);
  if (dropped_in_time) {
    inode->drop_ends(dropped);
  } else {
    given_up_.add();
    inode->drop_ends_unseen();
  }
}

Task<void> KernelNotifier::drop_some_pages(Reactor& reactor, InodeRef inode, PageRange pages) {
  co_await drop(drops_of_writes_, reactor, std::move(inode), pages, kWritePatience);
}

Task<void> KernelNotifier::drop_written_pages(Reactor& reactor, InodeRef inode, PageRange pages) {
  co_await reads_in_flight_set(*inode);
  co_await drop(drops_of_writes_, reactor, std::move(inode), pages, TimedWait::kUnbounded);
}

Task<void> KernelNotifier::drop_pages_beside_direct(Reactor& reactor, InodeRef inode,
                                                    PageRange pages) {
  co_await reads_in_flight_set(*inode);
  co_await drop(drops_, reactor, std::move(inode), pages, kDirectPatience);
}

Task<void> KernelNotifier::drop_pages_now(Reactor& reactor, InodeRef inode) {
  co_await reads_in_flight_set(*inode);
  co_await drop(drops_, reactor, std::move(inode), PageRange::all(), TimedWait::kUnbounded);
}

}  // namespace nfsrdma::fuse
