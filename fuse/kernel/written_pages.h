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
/// To be asked when the write has its place in the order, and READs from then on wait for it.
/// A direct write has none behind it: the kernel dropped them before it sent the WRITE, but what
/// was read since may be old, and nothing drops it when the write is asynchronous. Of pages written
/// through the page cache, see ReadsAfterDrop.
OldPages old_pages(const File& file, WriteBy by, PageRange written);
/// Drops them. Before the write is answered and after READs can be answered that wait for it.
Task<void> drop_old_pages(KernelCaches& kernel, FileRef file, OldPages old);

/// The kernel has put the bytes of an append where it took the end to be, `asked`, and they were
/// written at `offset`. A page that it keeps is wrong in both places: it goes before the write is
/// answered, which makes the kernel show the file up to the end of what it has written. Pages of
/// another version are left to the code that tells the kernel so.
Task<void> correct_pages(KernelCaches& kernel, FileRef file, std::uint64_t asked,
                         std::uint64_t offset, std::size_t length);

}  // namespace nfsrdma::fuse
