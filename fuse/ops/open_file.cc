#include "fuse/ops/open_file.h"

#include <fcntl.h>

namespace nfsrdma::fuse {

FileRef add_open_file(FileSystem& fs, cache::Opened opened, int flags, OpenAnswer& answer) {
  Inode& inode = with_view(*opened.inode);
  answer.keep_cache = fs.kernel().keeps_pages_at_open(inode);
  if (!answer.keep_cache) inode.view().pages_to_be_dropped();
  const bool others = inode.open() != nullptr;
  auto first = std::move(opened.first);
  const std::uint64_t change = opened.change;
  FileRef file = fs.add_file(std::move(opened));
  fs.files().reads().begin_with(*file, std::move(first), change);
  file->drop_unconfirmed = !answer.keep_cache;
  // One open may drop pages that another is writing.
  if (others && inode.view().drops_unconfirmed()) inode.watch_writes();
  // The kernel may show these without asking, for as long as the file is open.
  if (answer.keep_cache) fs.kernel().revalidation_timer().add(*file);
  file->synchronous = fs.config().synchronous || (flags & (O_SYNC | O_DSYNC)) != 0;
  answer.fh = file->id;
  answer.parallel_direct_io = (flags & O_DIRECT) != 0;
  return file;
}

Task<void> forget_open(FileSystem& fs, FileRef file) {
  // The kernel has not opened it, and not dropped pages. Other openers may have read some.
  if (file->drop_unconfirmed) {
    KernelView& view = file->node().view();
    file->shared->files.size() > 1 ? view.doubt_pages() : view.forget_pages();
  }
  fs.remove_file(file->id);
  co_await fs.files().close(std::move(file));
}

}  // namespace nfsrdma::fuse
