#include "client/state/lock_waiters.h"

#include <algorithm>
#include <utility>

#include "client/state/lock_ranges.h"

namespace nfsrdma::client {
namespace {

bool overlap(ByteRange one, ByteRange two) {
  return one.first <= two.last && two.first <= one.last;
}

bool within(ByteRange part, ByteRange whole) {
  return whole.first <= part.first && part.last <= whole.last;
}

}  // namespace

LockWaiters::Turn::Turn(LockWaiters& waiters, const FileHandle& file, LockOwner owner,
                        ByteRange range, bool exclusive, bool holds)
    : waiters_(waiters),
      file_(file),
      owner_(owner),
      range_(range),
      exclusive_(exclusive),
      holds_(holds) {
  waiters.turns_.push_back(*this);
}

LockWaiters::Turn::~Turn() {
  unlink();
  if (!granted_) waiters_.next_ask(file_);
}

bool LockWaiters::Turn::conflicts(const Turn& other) const {
  return owner_ != other.owner_ && (exclusive_ || other.exclusive_) &&
         overlap(range_, other.range_);
}

/// What stands in the way of the other one stands in the way of this one, too: it wants all that
/// the other one wants, and has no locks of its own, of which one could be what is in the way.
bool LockWaiters::Turn::is_refused_with(const Turn& other) const {
  return !holds_ && (exclusive_ || !other.exclusive_) && within(other.range_, range_);
}

void LockWaiters::Turn::refused(bool holds) {
  holds_ = holds;
  asking_ = std::exchange(again_, false);
  refused_ = !asking_;
  if (refused_) waiters_.next_ask(file_);
}

// The others that it stands in the way of now need not ask to know that.
void LockWaiters::Turn::granted() {
  granted_ = true;
  waiters_.turns_.for_each([this](Turn& turn) {
    if (turn.file_ == file_ && !turn.asking_ && turn.conflicts(*this)) turn.refused_ = true;
  });
  unlink();
  waiters_.next_ask(file_);
}

void LockWaiters::wake(Turn& turn) {
  turn.asking_ = true;
  turn.refused_ = false;
  if (!turn.wait_) return;
  notified_.add();
  turn.wait_->wake();
}

void LockWaiters::next_ask(const FileHandle& file) {
  if (ended_) return;
  LockRanges before;            // what those before want
  LockRanges before_exclusive;  // and want exclusively
  std::vector<const Turn*> refused;
  turns_.for_each([&](Turn& turn) {
    if (turn.file_ != file) return;
    const bool refused_with = std::ranges::any_of(
        refused, [&](const Turn* other) { return turn.is_refused_with(*other); });
    if (turn.refused_ && !refused_with) refused.push_back(&turn);
    // Such a one keeps nobody else from asking.
    if (!turn.asking_ && (turn.refused_ || refused_with)) return;
    const LockRanges& in_the_way = turn.exclusive_ ? before : before_exclusive;
    if (!turn.asking_ && !in_the_way.overlaps(turn.range_)) wake(turn);
    before.set(turn.range_, true);
    if (turn.exclusive_) before_exclusive.set(turn.range_, true);
  });
}

void LockWaiters::unlocked(const FileHandle& file, ByteRange range) {
  turns_.for_each([&](Turn& turn) {
    if (turn.file_ != file || !overlap(turn.range_, range)) return;
    turn.refused_ = false;
    if (turn.asking_) turn.again_ = true;
  });
  next_ask(file);
}

void LockWaiters::notify(const FileHandle& file) {
  turns_.for_each([&](Turn& turn) {
    if (turn.file_ != file) return;
    turn.again_ = turn.asking_;
    wake(turn);
  });
}

}  // namespace nfsrdma::client
