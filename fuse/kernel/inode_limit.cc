#include "fuse/kernel/inode_limit.h"

#include <malloc.h>

#include <algorithm>
#include <utility>

namespace nfsrdma::fuse {
namespace {

KernelNotifier::Known known_as(const Inode& inode) {
  KernelNotifier::Known known;
  known.inode = inode.id();
  if (!inode.name()) return known;
  known.directory = with_view(*inode.name()->directory).id();
  known.name = inode.name()->name;
  return known;
}

}  // namespace

InodeLimit::InodeLimit(InodeTable& inodes, KernelNotifier& kernel, Reactor& reactor,
                       std::size_t most)
    : inodes_(inodes),
      kernel_(kernel),
      reactor_(reactor),
      most_(most),
      next_look_(reactor, [this] { look(); }),
      trim_(reactor, [this] { give_memory_back(); }) {
  inodes_.watch_size([this] { on_size(); });
}

InodeLimit::~InodeLimit() { inodes_.watch_size(nullptr); }

void InodeLimit::on_size() {
  const std::size_t size = inodes_.size();
  peak_ = std::max(peak_, size);
  if (size >= most_ && !next_look_.armed()) next_look_.arm(in_use_ ? kLongPause : Duration::zero());
  const std::size_t gone = peak_ - size;
  if (gone >= kTrim && gone >= peak_ / 4 && !trim_.armed()) wait_to_trim();
}

void InodeLimit::look() {
  if (inodes_.size() <= enough()) {
    in_use_ = false;
    return;
  }
  // One order after the other: they may have to wait for a directory.
  const bool asking = reactor_.seen("the kernel is being asked to forget", asking_->load());
  if (!asking) {
    if (place_ == 0) size_at_begin_ = inodes_.size();
    std::vector<KernelNotifier::Known> unused = take_unused();
    if (place_ == 0) in_use_ = unused.empty() && inodes_.size() >= size_at_begin_;
    if (!unused.empty()) {
      asked_.add(unused.size());
      asking_->store(true);
      const bool ordered =
          kernel_.forget(std::move(unused), [asking = asking_] { asking->store(false); });
      if (!ordered) return;
    }
  }
  next_look_.arm(in_use_ ? kLongPause : kPause);
}

std::vector<KernelNotifier::Known> InodeLimit::take_unused() {
  std::vector<KernelNotifier::Known> unused;
  const std::size_t too_many = inodes_.size() - enough();
  place_ = inodes_.visit_part(place_, [&](Inode& inode) {
    if (inode.id() == InodeTable::kRootId || unused.size() == too_many) return;
    // One that was named since the last look has another turn.
    if (!inode.take_used() && inode.kept_by_kernel()) unused.push_back(known_as(inode));
  });
  return unused;
}

void InodeLimit::wait_to_trim() {
  size_before_trim_ = inodes_.size();
  trim_.arm(kTrimDelay);
}

void InodeLimit::give_memory_back() {
  peak_ = inodes_.size();
  ::malloc_trim(0);
  trims_.add(1);
  // While inodes go, the pages that they are on still hold others: most become free at the end.
  if (inodes_.size() < size_before_trim_) wait_to_trim();
}

void InodeLimit::visit_counters(CounterVisitor& visitor) const {
  visitor.visit("fs_inodes_most", most_);
  visitor.visit("fs_inodes_given_back", asked_.value());
  visitor.visit("fs_memory_given_back", trims_.value());
}

}  // namespace nfsrdma::fuse
