#include <fcntl.h>

#include <utility>

#include "cache/file/io_lock.h"
#include "cache/write/write.h"
#include "fuse/kernel/written_pages.h"
#include "fuse/ops/operations.h"
#include "fuse/ops/reply.h"

namespace nfsrdma::fuse {
namespace {

/// One write(2).
struct KernelWrite final : cache::Writer {
  KernelWrite(FileSystem& of, Request asked_by, FileRef to, const WriteArguments& arguments);

  void on_placed() override { old = old_pages(*file, by, {offset(), offset() + size()}); }
  bool on_taken() override {
    on_placed();
    if (old.any()) return false;
    reply(size());
    return true;
  }
  bool given_up() const override { return request.answered(); }

  std::uint64_t offset() const { return incoming.what.offset; }
  std::size_t size() const { return incoming.what.data.size(); }
  void reply(std::size_t bytes);
  void keep_failure(int error_number);

  FileSystem& fs;
  Request request;
  FileRef file;
  cache::Incoming incoming;
  std::uint64_t asked = 0;  ///< where the kernel takes the bytes to be, an append's as well
  WriteBy by = WriteBy::page_cache;
  OldPages old;  ///< to be dropped before the answer
};

void KernelWrite::reply(std::size_t bytes) {
  KernelView& view = file->node().view();
  view.asks_again();
  // Pages that it writes back leave its size as it is.
  const bool alone = by == WriteBy::page_cache;
  if (request.reply_write(bytes)) view.wrote(asked + bytes, alone);
}

/// The kernel tells the error of a page that it writes back to the next one to wait for pages,
/// which may be PageWriter, and once more to each fsync(2). It is told as that of any write after
/// its answer.
void KernelWrite::keep_failure(int error_number) {
  file->node().view().asks_again();
  file->shared->errors.record(error_number);
  fs.attributes().doubt_data(*file->inode);
  request.reply_write(size());
}

Task<void> run(KernelWrite write) {
  auto written =
      co_await cache::write(write.fs.files().writes(), write.file, write.incoming, write);
  KernelCaches& kernel = write.fs.kernel();
  if (write.offset() != write.asked)
    co_await correct_pages(kernel, write.file, write.asked, write.offset(), write.size());
  if (write.old.any()) co_await drop_old_pages(kernel, write.file, write.old);
  if (written) {
    write.reply(*written);
    co_return;
  }
  const int error_number = note_failure(write.fs, write.request, written.error());
  if (write.by == WriteBy::write_back) {
    write.keep_failure(error_number);
    co_return;
  }
  // A caller that was answered early learns of the failure at the next flush.
  if (!write.request.reply_error(error_number)) write.file->shared->errors.record(error_number);
}

Task<void> answer_taken(KernelWrite write) {
  co_await drop_old_pages(write.fs.kernel(), write.file, write.old);
  write.reply(write.size());
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
bool may_be_sent_later(FileSystem& fs, const cache::Incoming& incoming,
                       const fuse_write_in& write) {
  return !incoming.durable && !has_flag(write, O_DIRECT) && !fs.config().attributes.noac;
}

KernelWrite::KernelWrite(FileSystem& of, Request asked_by, FileRef to,
                         const WriteArguments& arguments)
    : fs(of),
      request(std::move(asked_by)),
      file(std::move(to)),
      asked(arguments.offset),
      by(way_of(arguments)) {
  incoming.what.data = arguments.data;
  incoming.what.offset = arguments.offset;
  if (appends(file->node(), arguments)) incoming.what.place = cache::WriteOrder::Place::at_end;
  incoming.durable = file->synchronous || has_flag(arguments, O_DSYNC);
  incoming.may_be_sent_later = may_be_sent_later(fs, incoming, arguments);
  // The kernel looks at the error of written back pages, not at how much of them was written.
  incoming.whole = by == WriteBy::write_back;
  const cache::IoCaller caller{arguments.lock_owner, incoming.whole ? 0 : request.context().pid};
  incoming.what.lock = cache::lock_for_io(*file, caller, cache::io_range(asked, size()));
}

}  // namespace

void handle::write(FileSystem& fs, Request request, FileRef file, WriteArguments arguments) {
  KernelWrite write(fs, std::move(request), std::move(file), arguments);
  if (write.by != WriteBy::direct) {
    note_whole_pages(write.file->node(), write.offset(), write.size());
    fs.kernel().revalidation_timer().add(*write.file);
  }
  if (!cache::take_write(fs.files().writes(), write.file, write.incoming, *arguments.slot, write)) {
    write.incoming.slot = std::move(*arguments.slot);
    spawn(run(std::move(write)));
  } else if (write.old.any()) {
    spawn(answer_taken(std::move(write)));
  }
}

}  // namespace nfsrdma::fuse
