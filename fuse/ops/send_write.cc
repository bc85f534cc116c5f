#include "fuse/ops/send_write.h"

#include <sys/stat.h>

#include <algorithm>
#include <optional>

#include "fuse/ops/commit.h"
#include "fuse/ops/file_locks.h"

namespace nfsrdma::fuse {
namespace {

/// A reply that was overtaken has not been taken in: appends have to know this end of the file. A
/// WRITE can take away set-id bits, but does not ask for the mode, and nor does the kernel then.
void doubt_attributes(FileSystem& fs, Inode& inode, std::uint64_t end) {
  const cache::FileAttributes& known = inode.attributes().value();
  const bool set_id = (known.mode & (S_ISUID | S_ISGID)) != 0;
  if (set_id) fs.drop_attributes(inode);
  if (set_id || known.size < end) inode.attributes().expire();
}

/// Sends the bytes from `done` on; returns how many the server took. Unstable ones are kept.
Task<Result<std::size_t>> send_part(FileSystem& fs, FileRef file, const Outgoing& outgoing,
                                    std::size_t done, std::optional<cache::Uncommitted>& kept) {
  const std::size_t length = std::min<std::size_t>(outgoing.data.size() - done, fs.mount().wsize());
  const std::uint64_t offset = outgoing.offset + done;
  OpenInode& open = *file->shared;
  auto written = co_await write_once(fs, file, offset, outgoing.data.subspan(done, length),
                                     outgoing.stable, outgoing.lock);
  CO_TRY(written);
  const std::size_t count = std::min<std::size_t>(written->count, length);
  if (written->committed != nfs4::UNSTABLE4) {
    open.uncommitted.supersede(offset, count);
    co_return count;
  }
  if (!kept) kept = fs.uncommitted_memory().keep(*outgoing.slot, outgoing.data);
  open.uncommitted.keep(offset, {kept->owner, kept->data.subspan(done, count)}, written->verifier);
  list_uncommitted(fs, open);
  co_return count;
}

}  // namespace

Task<Result<client::Written>> write_once(FileSystem& fs, FileRef file, std::uint64_t offset,
                                         std::span<const std::byte> data, nfs4::stable_how4 stable,
                                         client::FileLocks::LockRef lock) {
  Inode& inode = *file->inode;
  const cache::Issue issue = fs.issue();
  auto written = co_await client::write(fs.mount(), file->caller, inode.handle(),
                                        io_state(*file, lock), offset, data, stable);
  CO_TRY(written);
  if (written->attributes) {
    fs.learn(inode, *written->attributes, issue, ChangedBy::us(written->change_before));
  } else {
    inode.attributes().expire();
  }
  doubt_attributes(fs, inode, offset + written->count);
  co_return written;
}

Task<Result<std::size_t>> send_write(FileSystem& fs, FileRef file, Outgoing outgoing) {
  std::optional<cache::Uncommitted> kept;
  std::size_t done = 0;
  while (done < outgoing.data.size()) {
    auto count = co_await send_part(fs, file, outgoing, done, kept);
    if (!count && done > 0 && !outgoing.whole) break;
    CO_TRY(count);
    if (*count == 0) break;
    done += *count;
  }
  co_return done;
}

}  // namespace nfsrdma::fuse
