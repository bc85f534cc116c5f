#include "fuse/kernel/written_pages.h"

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

void note_whole_pages(Inode& inode, std::uint64_t offset, std::size_t size) {
  const std::uint64_t first = (offset + kPage - 1) / kPage;
  const std::uint64_t end = (offset + size) / kPage;
  if (first < end) inode.view().pages_cached({first * kPage, end * kPage});
}

OldPages old_pages(const File& file, WriteBy by, PageRange written) {
  const KernelView& view = file.node().view();
  switch (by) {
    case WriteBy::write_back: break;
    case WriteBy::page_cache:
      return {file.seen->after_drop.written(written, view.may_be_dropping()), written, by};
    case WriteBy::direct:
      if (view.pages().any(written)) return {view.pages().parts_of(written), written, by};
      break;
  }
  return {};
}

Task<void> drop_old_pages(KernelCaches& kernel, FileRef file, OldPages old) {
  if (old.by == WriteBy::direct) {
    co_await kernel.notifier().drop_pages_beside_direct(&file->node(), old.bytes);
    co_return;
  }
  const std::uint64_t unlocked = end_of_unlocked(old.written);
  const PageRange whole{old.bytes.begin, std::min(unlocked, old.bytes.end)};
  if (!whole.empty()) {
    co_await kernel.notifier().drop_written_pages(&file->node(), whole);
  }
  const PageRange last{std::max(unlocked, old.bytes.begin), old.bytes.end};
  if (last.empty() || kernel.auto_invalidates()) co_return;
  co_await kernel.notifier().drop_some_pages(&file->node(), last);
}

Task<void> correct_pages(KernelCaches& kernel, FileRef file, std::uint64_t asked,
                         std::uint64_t offset, std::size_t length) {
  // Before it reads anything, the kernel will find another size, and drop all pages.
  if (kernel.auto_invalidates()) co_return;
  const std::uint64_t begin = std::min(asked, offset) / kPage * kPage;
  const std::uint64_t end =
      std::min(std::max(asked, offset) + length, file->node().view().pages_end());
  if (begin >= end) co_return;
  co_await kernel.notifier().drop_some_pages(&file->node(), {begin, end});
}

}  // namespace nfsrdma::fuse
