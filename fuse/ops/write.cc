#include <fcntl.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "cache/file/io_lock.h"
#include "cache/write/commit.h"
#include "cache/write/send_write.h"
#include "fuse/kernel/written_pages.h"
#include "fuse/ops/operations.h"
#include "fuse/ops/reply.h"

namespace nfsrdma::fuse {
namespace {

using cache::WriteOrder;

/// The data of one write(2): its bytes lie in `slot` until they are kept elsewhere.
struct Incoming {
  Buffer slot;
  cache::FileWrite what;
  bool may_be_sent_later = false;  ///< behind the answer
  bool durable = false;            ///< its caller waits until they are
  WriteBy by = WriteBy::page_cache;
  OldPages old;  ///< to be dropped before the answer

  PageRange range() const { return {what.offset, what.offset + what.data.size()}; }
  /// To the end of the file, wherever the kernel takes that to be.
  bool appends() const { return what.place == WriteOrder::Place::at_end; }
};

/// The end of the file as far as this client knows it.
std::uint64_t known_end(const File& file) {
  return std::max(file.inode->attributes().value().size, file.shared->dirty_end());
}

/// The end of the file as the server knows it, as well as that can be known: other clients may
/// append at any time, and NFS has no atomic append (RFC 8881 section 18.32). Where the kernel
/// takes the end to be does not count: another client may have shortened the file since.
Task<Result<std::uint64_t>> append_offset(FileSystem& fs, File& file) {
  // What callers that were answered early (killed, or soft) have not got written yet comes first,
  // and counts in no size.
  while (file.shared->order.direct()) {
    WriteOrder::Reading before(file.shared->order, 0, std::numeric_limits<std::size_t>::max());
    co_await before;
  }
  if (fs.attributes().data_remaining(*file.inode) == Duration::zero()) {
    auto known = co_await fs.attributes().revalidate(&file);
    CO_TRY(known);
  }
  // A server that has restarted knows the end without what it has lost.
  co_await cache::restore_lost(fs.files().writes(), file.shared);
  co_return known_end(file);
}

/// Whether the bytes may be written after the answer: where they go is known, and nobody waits.
bool may_be_taken(FileSystem& fs, File& file, const Incoming& incoming) {
  if (!incoming.may_be_sent_later || cache::lost(incoming.what.lock)) return false;
  if (!incoming.appends()) return true;
  const bool fresh = fs.attributes().data_remaining(*file.inode) > Duration::zero() &&
                     !file.shared->may_be_lost() && !file.shared->order.direct();
  return fresh && incoming.what.offset == known_end(file);
}

/// Has the bytes written later; false when they must be sent now. Of a large write `slot` is taken.
bool take(FileSystem& fs, const FileRef& file, Incoming& incoming, Buffer& slot) {
  if (!may_be_taken(fs, *file, incoming)) return false;
  cache::WriteBehind& behind = fs.files().writes().behind();
  if (!behind.take(file, incoming.what) && !behind.take_over(file, incoming.what, slot)) {
    return false;
  }
  incoming.old = old_pages(*file, incoming.by, incoming.range());
  return true;
}

Task<Result<std::size_t>> send_now(FileSystem& fs, FileRef file, Incoming& incoming) {
  const std::shared_ptr<cache::OpenInode> open = file->shared;
  fs.files().writes().behind().count_write(*open);
  fs.files().writes().behind().send(*open);
  WriteOrder::Turn turn(open->order, WriteOrder::Kind::direct, incoming.what.offset,
                        incoming.what.data.size(), incoming.what.place);
  incoming.old = old_pages(*file, incoming.by, incoming.range());
  auto pass = co_await open->gate.enter(Gate::Mode::shared);
  co_await turn;
  if (!file->open) co_return fail(Error::local(EBADF, "WRITE", "the file is closed"));
  cache::Outgoing outgoing{&incoming.slot, incoming.what.data, incoming.what.offset};
  outgoing.lock = incoming.what.lock;
  if (incoming.durable) outgoing.stable = nfs4::FILE_SYNC4;
  // The kernel looks at the error of written back pages, not at how much of them was written.
  outgoing.whole = incoming.by == WriteBy::write_back;
  auto written = co_await cache::send_write(fs.files().writes(), file, outgoing);
  if (written) open->write_through = false;
  co_return written;
}

/// Its caller has had an error while it waited (soft, or killed). Without a place in the file's
/// order it would come behind changes that were made since.
bool given_up(const Request& request) { return request.answered(); }

Task<Result<std::size_t>> send_at_end(FileSystem& fs, const Request& request, FileRef file,
                                      Incoming& incoming) {
  auto offset = co_await append_offset(fs, *file);
  CO_TRY(offset);
  if (given_up(request)) co_return std::size_t{0};
  const std::uint64_t asked = std::exchange(incoming.what.offset, *offset);
  auto written = co_await send_now(fs, file, incoming);
  if (asked != *offset)
    co_await correct_pages(fs.kernel(), file, asked, *offset, incoming.what.data.size());
  co_return written;
}

/// Waits for memory, and while much of this file is on its way already; then the bytes may have
/// found room after all.
Task<bool> take_late(FileSystem& fs, const Request& request, FileRef file, Incoming& incoming) {
  cache::WriteBack& writes = fs.files().writes();
  if (!incoming.may_be_sent_later) {
    if (writes.memory().filling()) cache::relieve(writes);
    co_await writes.memory().room();
    co_return false;
  }
  for (;;) {
    const bool may_have_room = co_await writes.behind().room(file->shared);
    if (given_up(request)) co_return false;
    if (take(fs, file, incoming, incoming.slot)) co_return true;
    if (!may_have_room) co_return false;
  }
}

/// The kernel takes the bytes to be at `asked`, even those of an append that went elsewhere.
void reply_written(Request& request, File& file, WriteBy by, std::uint64_t asked,
                   std::size_t bytes) {
  file.node().view().asks_again();
  // Pages that it writes back leave its size as it is.
  const bool alone = by == WriteBy::page_cache;
  if (request.reply_write(bytes)) file.node().view().wrote(asked + bytes, alone);
}

/// The kernel tells the error of a page that it writes back to the next one to wait for pages,
/// which may be PageWriter, and once more to each fsync(2). It is told as that of any write after
/// its answer.
void keep_failure(FileSystem& fs, Request& request, File& file, const Incoming& incoming,
                  int error_number) {
  file.node().view().asks_again();
  file.shared->errors.record(error_number);
  fs.attributes().doubt_data(*file.inode);
  request.reply_write(incoming.what.data.size());
}

Task<void> run(FileSystem& fs, Request request, FileRef file, Incoming incoming) {
  const std::uint64_t asked = incoming.what.offset;
  const bool taken = co_await take_late(fs, request, file, incoming);
  if (taken) {
    if (incoming.old.any()) co_await drop_old_pages(fs.kernel(), file, incoming.old);
    reply_written(request, *file, incoming.by, asked, incoming.what.data.size());
    co_return;
  }
  if (given_up(request)) co_return;
  auto sending =
      incoming.appends() ? send_at_end(fs, request, file, incoming) : send_now(fs, file, incoming);
  auto written = co_await sending;
  if (incoming.old.any()) co_await drop_old_pages(fs.kernel(), file, incoming.old);
  if (written) {
    reply_written(request, *file, incoming.by, asked, *written);
    co_return;
  }
  const int error_number = note_failure(fs, request, written.error());
  if (incoming.by == WriteBy::write_back) {
    keep_failure(fs, request, *file, incoming, error_number);
    co_return;
  }
  // A caller that was answered early learns of the failure at the next flush.
  if (!request.reply_error(error_number)) file->shared->errors.record(error_number);
}

Task<void> answer_taken(FileSystem& fs, Request request, FileRef file, Incoming incoming) {
  co_await drop_old_pages(fs.kernel(), file, incoming.old);
  reply_written(request, *file, incoming.by, incoming.what.offset, incoming.what.data.size());
}

/// Answers before the bytes are gathered, where that cannot fail: the caller, on another processor,
/// makes the next request meanwhile. False: nothing was done.
bool answer_and_take(FileSystem& fs, Request& request, const FileRef& file, Incoming& incoming) {
  cache::WriteBehind& behind = fs.files().writes().behind();
  if (!may_be_taken(fs, *file, incoming) || !behind.joins(file, incoming.what)) {
    return false;
  }
  incoming.old = old_pages(*file, incoming.by, incoming.range());
  if (!incoming.old.any())
    reply_written(request, *file, incoming.by, incoming.what.offset, incoming.what.data.size());
  behind.take(file, incoming.what);
  if (incoming.old.any()) {
    spawn(answer_taken(fs, std::move(request), file, std::move(incoming)));
  }
  return true;
}

/// Not what open(2) was called with: fcntl(F_SETFL) changes O_APPEND and O_DIRECT, and pwritev2(2)
/// may ask for durable data once, after which the kernel sends no FSYNC where it passes its pages
/// by.
bool has_flag(const fuse_write_in& write, int flag) { return (write.flags & flag) != 0; }

/// The way of the write through the kernel.
WriteBy way_of(const fuse_write_in& write) {
  if (write.write_flags & FUSE_WRITE_CACHE) return WriteBy::write_back;
  return has_flag(write, O_DIRECT) ? WriteBy::direct : WriteBy::page_cache;
}

/// Mapped pages that the kernel writes back have their place. So has pwritev2(2) with RWF_NOAPPEND
/// (Linux 6.9), of which the kernel tells nothing but the offset: it begins an append at the end
/// that it knows.
bool appends(const Inode& inode, const fuse_write_in& write) {
  if (!has_flag(write, O_APPEND) || (write.write_flags & FUSE_WRITE_CACHE) != 0) return false;
  return write.offset >= inode.view().least_size();
}

/// A caller that wants durable or uncached data waits for the server.
bool may_be_sent_later(FileSystem& fs, const Incoming& incoming, const fuse_write_in& write) {
  return !incoming.durable && !has_flag(write, O_DIRECT) && !fs.config().attributes.noac;
}

}  // namespace

void handle::write(FileSystem& fs, Request request, FileRef file, WriteArguments arguments) {
  const bool write_back = (arguments.write_flags & FUSE_WRITE_CACHE) != 0;
  Incoming incoming;
  incoming.what.data = arguments.data;
  incoming.what.offset = arguments.offset;
  if (appends(file->node(), arguments)) incoming.what.place = WriteOrder::Place::at_end;
  incoming.durable = file->synchronous || has_flag(arguments, O_DSYNC);
  incoming.may_be_sent_later = may_be_sent_later(fs, incoming, arguments);
  const cache::IoCaller by{arguments.lock_owner, write_back ? 0 : request.context().pid};
  incoming.what.lock = cache::lock_for_io(
      *file, by, cache::io_range(incoming.what.offset, incoming.what.data.size()));
  incoming.by = way_of(arguments);
  if (incoming.by != WriteBy::direct) {
    note_whole_pages(file->node(), incoming.what.offset, incoming.what.data.size());
    fs.kernel().revalidation_timer().add(*file);
  }
  if (answer_and_take(fs, request, file, incoming)) return;
  if (take(fs, file, incoming, *arguments.slot)) {
    if (incoming.old.any()) {
      spawn(answer_taken(fs, std::move(request), std::move(file), std::move(incoming)));
    } else {
      reply_written(request, *file, incoming.by, incoming.what.offset, incoming.what.data.size());
      fs.files().writes().behind().after_answer(*file->shared);
    }
    return;
  }
  incoming.slot = std::move(*arguments.slot);
  spawn(run(fs, std::move(request), std::move(file), std::move(incoming)));
}

}  // namespace nfsrdma::fuse
