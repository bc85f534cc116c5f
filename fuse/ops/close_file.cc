#include "fuse/ops/close_file.h"

#include "client/files/close.h"
#include "fuse/ops/commit.h"
#include "fuse/ops/silly_rename.h"
#include "transport/base/log.h"

namespace nfsrdma::fuse {
namespace {

/// Mapped pages can be written back after the last flush; what fails then can only be logged.
Task<void> flush_writes(FileSystem& fs, FileRef file) {
  const std::shared_ptr<OpenInode> open = file->shared;
  {
    // Writes that were answered early, because their caller was killed, still use the open.
    auto pass = co_await open->gate.enter(cache::WriteGate::Mode::exclusive);
  }
  co_await commit_file(fs, file);
}

}  // namespace

Task<void> close_file(FileSystem& fs, FileRef file) {
  const std::shared_ptr<OpenInode> open = file->shared;
  if (file->writable()) co_await flush_writes(fs, file);
  file->unlink();
  const bool last = open->files.empty();
  if (last && open->errors.unreported()) {
    log::warning("writes to file {} failed after its last flush",
                 file->inode->attributes().value().fileid);
  }
  auto closed = co_await client::close(fs.mount(), std::move(file->open));
  if (!closed) log::debug("close: {}", closed.error().message());
  if (!last || !open->silly || !open->files.empty()) co_return;
  SillyName silly = std::move(*open->silly);
  open->silly.reset();
  co_await fs.mount().delegations().give_back(file->inode->handle());
  co_await remove_silly_name(fs, std::move(silly));
  open->removal.reset();
}

}  // namespace nfsrdma::fuse
