#include "tests/responder/nfs/unstable_data.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ranges>

#include "transport/base/log.h"

namespace nfsrdma::responder {

void UnstableData::remember(FileTable& files, const FileRef& file, std::uint64_t offset,
                            std::size_t length) {
  Kept& kept = files_[file->key()];
  if (!kept.fd) {
    auto opened = files.reopen_unchecked(file, O_RDWR);
    if (!opened) return;
    kept.fd = std::move(*opened);
  }
  struct stat before {};
  if (::fstat(kept.fd.get(), &before) != 0) return;
  Before& write = kept.writes.emplace_back(Before{offset, {}, before.st_size});
  write.bytes.resize(length);
  const ssize_t got =
      ::pread(kept.fd.get(), write.bytes.data(), length, static_cast<off_t>(offset));
  write.bytes.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
}

void UnstableData::resized(const File& file, std::uint64_t size) {
  const auto found = files_.find(file.key());
  if (found == files_.end()) return;
  for (Before& write : found->second.writes) {
    write.size = static_cast<off_t>(size);
    const std::uint64_t left = size > write.offset ? size - write.offset : 0;
    if (write.bytes.size() > left) write.bytes.resize(left);
  }
}

std::size_t UnstableData::lose() {
  std::size_t lost = 0;
  for (auto& [key, kept] : files_) {
    for (const Before& write : std::views::reverse(kept.writes)) {
      const auto at = static_cast<off_t>(write.offset);
      const auto size = static_cast<ssize_t>(write.bytes.size());
      const bool back = ::pwrite(kept.fd.get(), write.bytes.data(), write.bytes.size(), at) == size;
      if (!back || ::ftruncate(kept.fd.get(), write.size) != 0) {
        log::warning("an unstable WRITE could not be undone");
      }
      ++lost;
    }
  }
  files_.clear();
  return lost;
}

}  // namespace nfsrdma::responder
