#include "cache/file/inode.h"

#include <sys/stat.h>

#include <algorithm>

#include "cache/file/file.h"

namespace nfsrdma::cache {

bool Inode::is_directory() const { return S_ISDIR(attributes_.value().mode); }

std::uint64_t Inode::size() const {
  const auto open = open_.lock();
  std::uint64_t size = attributes_.value().size;
  if (open && open->dirty()) size = std::max(size, open->dirty_end());
  // Shown a smaller size, the kernel would throw away pages that programs have written.
  if (open && open->may_be_lost()) size = std::max(size, open->uncommitted.end());
  return size;
}

bool OpenInode::in_use() {
  bool used = false;
  files.for_each([&](const File& file) { used |= !file.released; });
  return used;
}

boost::intrusive_ptr<File> OpenInode::any_writer() {
  FileRef writer;
  bool writer_lost = false;
  files.for_each([&](File& file) {
    const bool lost = !file.open || file.open->lost();
    if (file.writable() && (!writer || (writer_lost && !lost))) {
      writer = &file;
      writer_lost = lost;
    }
  });
  return writer;
}

void OpenInode::drop_read_ahead(std::uint64_t begin, std::uint64_t end) {
  files.for_each([&](File& file) {
    if (file.ahead) file.ahead->drop(begin, end);
  });
}

}  // namespace nfsrdma::cache
