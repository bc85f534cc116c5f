#include "cache/write/write_behind.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "cache/write/commit.h"
#include "cache/write/send_write.h"
#include "client/requests/errno.h"
#include "client/state/same_user.h"

namespace nfsrdma::cache {
namespace {

/// Data that was sent, or is being sent, is not durable without.
bool needs_commit(const OpenInode& open) {
  return !open.uncommitted.empty() || open.order.unstable() > 0;
}

}  // namespace

WriteBehind::WriteBehind(WriteBack& writes, Reactor& reactor, BufferPool& slots,
                         std::size_t most_slots)
    : writes_(writes),
      reactor_(reactor),
      memory_(slots, most_slots),
      sending_(reactor),
      due_(reactor, [this] { send_due(); }) {}

bool WriteBehind::take(const FileRef& file, const FileWrite& write) {
  OpenInode& open = *file->shared;
  if (!small(write.data) || !open_for(*file)) return false;
  if (!belongs(file, write.lock)) send(open);
  GatheredWrite& bytes = open.gathering.bytes;
  FileWrite rest = write;
  if (!bytes.takes(write.offset, write.data.size())) {
    GatherSlot next = slot_for(open);
    if (!next) return false;
    const std::size_t taken = bytes.add(write.offset, write.data);
    send(open);
    rest.offset += taken;
    rest.data = write.data.subspan(taken);
    bytes.begin(std::move(next), rest.offset, writes_.mount().wsize());
    bytes_.add(taken);
  }
  gather(file, rest);
  return true;
}

bool WriteBehind::joins(const FileRef& file, const FileWrite& write) const {
  const bool wanted = small(write.data) && open_for(*file) && belongs(file, write.lock);
  return wanted && file->shared->gathering.bytes.takes(write.offset, write.data.size());
}

/// One stateid and one credential for all bytes of a WRITE.
bool WriteBehind::belongs(const FileRef& file, const client::FileLocks::LockRef& lock) {
  const Gathering& gathering = file->shared->gathering;
  const FileRef& by = gathering.by;
  if (!by) return true;
  return by->open.file() == file->open.file() && client::same_user(by->caller, file->caller) &&
         gathering.lock == lock;
}

/// There is room for them.
void WriteBehind::gather(const FileRef& file, const FileWrite& write) {
  GatheredWrite& bytes = file->shared->gathering.bytes;
  bytes.add(write.offset, write.data);
  count_write(*file->shared);
  note(file, write);
  gathered_.add();
  bytes_.add(write.data.size());
  if (bytes.full()) send(*file->shared);
}

bool WriteBehind::take_over(const FileRef& file, const FileWrite& write, Buffer& slot) {
  OpenInode& open = *file->shared;
  if (small(write.data) || !open_for(*file) || !may_have_another(open)) return false;
  GatherSlot taken = memory_.adopt(slot, slots_uncommitted());
  if (!taken) return false;
  count_write(open);
  send(open);
  taken_over_.add();
  spawn(send_taken(file, write.lock, {std::move(taken), write.offset, write.data}, nfs4::UNSTABLE4,
                   write.place));
  return true;
}

Task<bool> WriteBehind::room(std::shared_ptr<OpenInode> open) {
  co_await writes_.memory().room();
  const std::size_t in_flight = open->order.gathered();
  if (in_flight == 0) co_return false;
  WriteOrder::Look look(open->order, in_flight - 1);
  co_await look;
  co_return true;
}

bool WriteBehind::small(std::span<const std::byte> data) const {
  return data.size() < std::min<std::size_t>(GatheredWrite::kGatherBelow, writes_.mount().wsize());
}

bool WriteBehind::open_for(const File& file) const {
  if (!file.open || file.shared->write_through || writes_.memory().full()) return false;
  return !writes_.full().full(file.inode->attributes().value().fsid, file.caller.uid,
                              reactor_.now());
}

std::size_t WriteBehind::slots_uncommitted() const { return writes_.memory().slots_uncommitted(); }

bool WriteBehind::may_have_another(const OpenInode& open) const {
  const std::size_t in_flight = open.order.gathered();
  return in_flight == 0 || in_flight < memory_.left(slots_uncommitted());
}

/// A new slot, for bytes that do not fit behind those that are gathered already.
GatherSlot WriteBehind::slot_for(const OpenInode& open) {
  if (!may_have_another(open)) return {};
  GatherSlot slot = memory_.acquire(slots_uncommitted());
  // Without one, the file that has gathered longest makes room for later writes.
  if (!slot && !gathering_.empty()) send(*gathering_.front().by->shared);
  return slot;
}

/// Bytes of this file are gathered from now on, if they have not been already.
void WriteBehind::note(const FileRef& file, const FileWrite& write) {
  Gathering& gathering = file->shared->gathering;
  if (write.place == WriteOrder::Place::at_end) gathering.place = write.place;
  if (gathering.linked()) return;
  gathering.by = file;
  gathering.lock = write.lock;
  gathering.since = reactor_.now();
  gathering_.push_back(gathering);
  if (!due_.armed()) due_.arm(kLongest);
}

void WriteBehind::count_write(OpenInode& open) {
  using Writes = Gathering::Writes;
  Writes& writes = open.gathering.writes;
  if (writes == Writes::one) one_write_files_.note(false);
  writes = writes == Writes::none ? Writes::one : Writes::several;
}

void WriteBehind::after_answer(OpenInode& open) {
  if (!one_write_files_.likely() || open.gathering.writes != Gathering::Writes::one) return;
  // With data that needs a COMMIT anyhow, close(2) waits for that, too.
  if (open.gathering.bytes.empty() || needs_commit(open)) return;
  one_write_files_.expect();
  sent_early_.add();
  send(open, nfs4::FILE_SYNC4);
}

void WriteBehind::send(OpenInode& open, nfs4::stable_how4 stable) {
  Gathering& gathering = open.gathering;
  if (gathering.bytes.empty()) return;
  gathering.unlink();
  FileRef by = std::move(gathering.by);
  client::FileLocks::LockRef lock = std::move(gathering.lock);
  const WriteOrder::Place place = std::exchange(gathering.place, WriteOrder::Place::anywhere);
  const OriginScope background(kNoOrigin);  // the write has been answered
  spawn(send_taken(std::move(by), std::move(lock), gathering.bytes.take(), stable, place));
}

Task<void> WriteBehind::send_taken(FileRef file, client::FileLocks::LockRef lock,
                                   GatheredWrite::Taken taken, nfs4::stable_how4 stable,
                                   WriteOrder::Place place) {
  const InFlightSet::One in_flight(sending_);
  const std::shared_ptr<OpenInode> open = file->shared;
  Outgoing outgoing{&taken.slot.buffer(), taken.data, taken.offset, stable};
  if (stable != nfs4::UNSTABLE4) outgoing.kind = WriteOrder::Kind::durable;
  outgoing.place = place;
  outgoing.whole = true;
  outgoing.lock = std::move(lock);
  (stable == nfs4::UNSTABLE4 ? sent_ : sent_durably_).add();
  auto written = co_await send_write(writes_, file, std::move(outgoing));
  if (written && *written == taken.data.size()) co_return;
  const Error error = written ? Error::local(EIO, "WRITE", "the server took a part of it")
                              : std::move(written).error();
  writes_.note_failure(*file->inode, "write-behind", error);
  open->errors.record(client::to_errno(error));
  open->write_through = true;
}

Task<void> WriteBehind::flush(std::shared_ptr<OpenInode> open) {
  send(*open);
  WriteOrder::Look look(open->order, 0);
  co_await look;
}

Task<void> WriteBehind::flush_durably(std::shared_ptr<OpenInode> open) {
  // A COMMIT that has to follow makes this durable as well.
  const auto stable = needs_commit(*open) ? nfs4::UNSTABLE4 : nfs4::FILE_SYNC4;
  const auto writes = std::exchange(open->gathering.writes, Gathering::Writes::none);
  if (writes == Gathering::Writes::one) one_write_files_.note(true);
  send(*open, stable);
  WriteOrder::Look look(open->order, 0);
  co_await look;
}

Task<void> WriteBehind::flush_all() {
  while (!gathering_.empty()) send(*gathering_.front().by->shared);
  co_await sending_.wait();
}

void WriteBehind::send_due() {
  const TimePoint now = reactor_.now();
  while (!gathering_.empty()) {
    const Gathering& longest = gathering_.front();
    if (longest.since + kLongest > now) {
      due_.arm(longest.since + kLongest - now);
      return;
    }
    send(*longest.by->shared);
  }
}

void WriteBehind::visit_counters(CounterVisitor& visitor) const {
  visitor.visit("cache_writes_gathered", gathered_.value());
  visitor.visit("cache_bytes_gathered", bytes_.value());
  visitor.visit("cache_writes_taken_over", taken_over_.value());
  visitor.visit("cache_gathered_sent_unstable", sent_.value());
  visitor.visit("cache_gathered_sent_durably", sent_durably_.value());
  visitor.visit("cache_gathered_sent_early", sent_early_.value());
  memory_.visit_counters(visitor);
}

}  // namespace nfsrdma::cache
