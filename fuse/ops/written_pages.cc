#include "fuse/ops/written_pages.h"

#include <fcntl.h>

#include <algorithm>

namespace nfsrdma::fuse {
namespace {

constexpr std::uint64_t kPage = 4096;  ///< the kernel's, or a part of one

/// The last page of a write is locked for it, if it was not in the cache and is not written whole:
/// where that begins, or else the end.
std::uint64_t end_of_unlocked(PageRange written) {
  const std::uint64_t last = (written.end - 1) / kPage * kPage;
  const bool whole = written.begin <= last && written.end == last + kPage;
  return whole ? written.end : last;
}

}  // namespace

WriteBy way_of(const fuse_write_in& write) {
  if (write.write_flags & FUSE_WRITE_CACHE) return WriteBy::write_back;
  return (write.flags & O_DIRECT) != 0 ? WriteBy::direct : WriteBy::page_cache;
}

void note_whole_pages(Inode& inode, std::uint64_t offset, std::size_t size) {
  const std::uint64_t first = (offset + kPage - 1) / kPage;
  const std::uint64_t end = (offset + size) / kPage;
  if (first < end) inode.pages_cached({first * kPage, end * kPage});
}

OldPages old_pages(File& file, WriteBy by, PageRange written) {
  const Inode& inode = *file.inode;
  switch (by) {
    case WriteBy::write_back: break;
    case WriteBy::page_cache:
      return {file.shared->after_drop.written(written, inode.may_be_dropping()), written, by};
    case WriteBy::direct:
      if (inode.pages().any(written)) return {inode.pages().parts_of(written), written, by};
      break;
  }
  return {};
}

Task<void> drop_old_pages(FileSystem& fs, FileRef file, OldPages old) {
  Reactor& reactor = fs.mount().reactor();
  if (old.by == WriteBy::direct) {
    co_await fs.notifier().drop_pages_beside_direct(reactor, file->inode, old.bytes);
    co_return;
  }
  const std::uint64_t unlocked = end_of_unlocked(old.written);
  const PageRange whole{old.bytes.begin, std::min(unlocked, old.bytes.end)};
  if (!whole.empty()) {
    co_await fs.notifier().drop_written_pages(reactor, file->inode, whole);
  }
  const PageRange last{std::max(unlocked, old.bytes.begin), old.bytes.end};
  if (last.empty() || fs.kernel_auto_invalidates()) co_return;
  co_await fs.notifier().drop_some_pages(reactor, file->inode, last);
}

Task<void> correct_pages(FileSystem& fs, FileRef file, std::uint64_t asked, std::uint64_t offset,
                         std::size_t length) {
  // Before it reads anything, the kernel will find another size, and drop all pages.
  if (fs.kernel_auto_invalidates()) co_return;
  const std::uint64_t begin = std::min(asked, offset) / kPage * kPage;
  const std::uint64_t end = std::min(std::max(asked, offset) + length, file->inode->pages_end());
  if (begin >= end) co_return;
  co_await fs.notifier().drop_some_pages(fs.mount().reactor(), file->inode, {begin, end});
}

}  // namespace nfsrdma::fuse
