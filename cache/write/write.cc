#include "cache/write/write.h"

#include <algorithm>
#include <limits>

#include "cache/file/io_lock.h"
#include "cache/write/commit.h"
#include "cache/write/send_write.h"

namespace nfsrdma::cache {
namespace {

/// The end of the file as far as this client knows it.
std::uint64_t known_end(const File& file) {
  return std::max(file.inode->attributes().value().size, file.shared->dirty_end());
}

/// The end of the file as the server knows it, as well as that can be known: other clients may
/// append at any time, and NFS has no atomic append (RFC 8881 section 18.32). Where the kernel
/// takes the end to be does not count: another client may have shortened the file since.
Task<Result<std::uint64_t>> append_offset(WriteBack& writes, FileRef file) {
  // What callers that were answered early (killed, or soft) have not got written yet comes first,
  // and counts in no size.
  while (file->shared->order.direct()) {
    WriteOrder::Reading before(file->shared->order, 0, std::numeric_limits<std::size_t>::max());
    co_await before;
  }
  if (writes.attributes().data_remaining(*file->inode) == Duration::zero()) {
    auto known = co_await writes.attributes().revalidate(file);
    CO_TRY(known);
  }
  // A server that has restarted knows the end without what it has lost.
  co_await restore_lost(writes, file->shared);
  co_return known_end(*file);
}

/// Whether the bytes may be written after the answer: where they go is known, and nobody waits.
bool may_be_taken(WriteBack& writes, const File& file, const Incoming& incoming) {
  if (!incoming.may_be_sent_later || lost(incoming.what.lock)) return false;
  if (!incoming.appends()) return true;
  const bool fresh = writes.attributes().data_remaining(*file.inode) > Duration::zero() &&
                     !file.shared->may_be_lost() && !file.shared->order.direct();
  return fresh && incoming.what.offset == known_end(file);
}

/// False when the bytes must be sent now.
bool take(WriteBack& writes, const FileRef& file, const Incoming& incoming, Buffer& slot) {
  if (!may_be_taken(writes, *file, incoming)) return false;
  WriteBehind& behind = writes.behind();
  return behind.take(file, incoming.what) || behind.take_over(file, incoming.what, slot);
}

/// Waits for memory, and while much of this file is on its way already; then the bytes may have
/// found room after all.
Task<bool> take_late(WriteBack& writes, FileRef file, Incoming& incoming, Writer& writer) {
  if (!incoming.may_be_sent_later) {
    if (writes.memory().filling()) relieve(writes);
    co_await writes.memory().room();
    co_return false;
  }
  for (;;) {
    const bool may_have_room = co_await writes.behind().room(file->shared);
    if (writer.given_up()) co_return false;
    if (take(writes, file, incoming, incoming.slot)) {
      writer.on_placed();
      co_return true;
    }
    if (!may_have_room) co_return false;
  }
}

/// A direct write, in the order of the file after what was gathered before.
Outgoing direct(Incoming& incoming) {
  Outgoing outgoing{&incoming.slot, incoming.what.data, incoming.what.offset};
  outgoing.kind = WriteOrder::Kind::direct;
  outgoing.place = incoming.what.place;
  outgoing.lock = incoming.what.lock;
  if (incoming.durable) outgoing.stable = nfs4::FILE_SYNC4;
  outgoing.whole = incoming.whole;
  return outgoing;
}

}  // namespace

// Where the bytes are sure to find room the answer comes before they are copied: the caller, on
// another processor, makes its next request meanwhile.
bool take_write(WriteBack& writes, const FileRef& file, const Incoming& incoming, Buffer& slot,
                Writer& writer) {
  WriteBehind& behind = writes.behind();
  if (may_be_taken(writes, *file, incoming) && behind.joins(file, incoming.what)) {
    writer.on_taken();
    behind.take(file, incoming.what);
    return true;
  }
  if (!take(writes, file, incoming, slot)) return false;
  if (writer.on_taken()) behind.after_answer(*file->shared);
  return true;
}

Task<Result<std::size_t>> write(WriteBack& writes, FileRef file, Incoming& incoming,
                                Writer& writer) {
  const bool taken = co_await take_late(writes, file, incoming, writer);
  if (taken) co_return incoming.what.data.size();
  if (writer.given_up()) co_return std::size_t{0};
  if (incoming.appends()) {
    auto end = co_await append_offset(writes, file);
    CO_TRY(end);
    if (writer.given_up()) co_return std::size_t{0};
    incoming.what.offset = *end;
  }
  writes.behind().count_write(*file->shared);
  writes.behind().send(*file->shared);
  auto written = co_await send_write(writes, file, direct(incoming), &writer);
  if (written) file->shared->write_through = false;
  co_return written;
}

}  // namespace nfsrdma::cache
