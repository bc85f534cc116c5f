// The kernel's pages beside a write: those that are right, and those that have to go.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fuse/kernel/kernel_caches.h"

namespace nfsrdma::fuse {

/// Which way a write(2) takes through the kernel.
enum class WriteBy : std::uint8_t {
  page_cache,  ///< it has put the bytes into pages, of which the last may be locked
  write_back,  ///< out of mapped pages, which READs wait for
  direct,      ///< past them
};

/// The kernel keeps the pages that it has written the whole of.
void note_whole_pages(Inode& inode, std::uint64_t offset, std::size_t size);

/// Pages that the kernel may have from before a write.
struct OldPages {
  PageRange bytes;
  PageRange written;
  WriteBy by = WriteBy::page_cache;
  bool any() const { return !bytes.empty(); }
};
/// Call when the write has its place in the order and later READs wait for it. The kernel drops the
/// pages under a direct write before it sends the WRITE. Pages read since may be stale, and nothing
/// drops them when the write is asynchronous. For pages written through the page cache, see
/// ReadsAfterDrop.
OldPages old_pages(const File& file, WriteBy by, PageRange written);
/// Drops them. Before the write is answered and after READs can be answered that wait for it.
Task<void> drop_old_pages(KernelCaches& kernel, FileRef file, OldPages old);

/// The kernel has put the bytes of an append at its own idea of the end, `asked`, and they were
/// written at `offset`. Pages that it keeps are wrong in both places. Drop them before the write is
/// answered, because the answer makes the kernel show the file up to the end of the written bytes.
/// Pages of another version are left to the code that invalidates them.
Task<void> correct_pages(KernelCaches& kernel, FileRef file, std::uint64_t asked,
                         std::uint64_t offset, std::size_t length);

}  // namespace nfsrdma::fuse
