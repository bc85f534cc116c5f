#include "client/ops/write.h"

#include <optional>

#include "client/ops/errno.h"
#include "client/ops/getattr.h"
#include "fuse/ops/commit.h"
#include "fuse/ops/handlers.h"
#include "fuse/ops/reply.h"

namespace nfsrdma::fs {
namespace {

/// What one write(2) brought: its octets lie in `slot` until they are kept elsewhere.
struct Incoming {
  Buffer slot;
  std::span<const std::byte> data;
  std::uint64_t offset = 0;
  bool write_back = false;  ///< mapped pages written back by the kernel, not a write(2)
};

/// Sends the octets from `done` on; returns how many the server took. Unstable ones are kept.
Task<Result<std::size_t>> write_part(FileSystem& fs, File& file, Incoming& incoming,
                                     std::size_t done, std::optional<cache::Kept>& kept) {
  const std::size_t length = std::min<std::size_t>(incoming.data.size() - done, fs.mount().wsize());
  const std::uint64_t offset = incoming.offset + done;
  const nfs4::stable_how4 stable = file.synchronous ? nfs4::FILE_SYNC4 : nfs4::UNSTABLE4;
  const cache::Issue issue = fs.issue();
  auto written =
      co_await client::write(fs.mount(), file.caller, file.inode->handle(), file.open.state(),
                             offset, incoming.data.subspan(done, length), stable);
  CO_TRY(written);
  const std::size_t count = std::min<std::size_t>(written->count, length);
  if (written->attributes) {
    fs.learn(*file.inode, *written->attributes, issue, ChangedBy::us);
  } else {
    file.inode->attributes().expire();
  }
  OpenInode& open = *file.shared;
  if (written->committed != nfs4::UNSTABLE4) {
    open.kept.supersede(offset, count);
    co_return count;
  }
  if (!kept) kept = fs.kept_memory().keep(incoming.slot, incoming.data);
  open.kept.keep(offset, {kept->owner, kept->data.subspan(done, count)}, written->verifier);
  list_uncommitted(fs, open);
  co_return count;
}

/// The end of the file as the server knows it, as well as that can be known: other clients may
/// append at any time, and NFS has no atomic append (RFC 8881 section 18.32).
Task<Result<std::uint64_t>> append_offset(FileSystem& fs, File& file, std::uint64_t asked) {
  Inode& inode = *file.inode;
  if (inode.attributes().remaining(fs.mount().reactor().now()) == Duration::zero()) {
    const cache::Issue issue = fs.issue();
    auto attributes = co_await client::getattr(fs.mount(), file.caller, inode.handle());
    CO_TRY(attributes);
    fs.learn(inode, *attributes, issue, ChangedBy::anyone);
  }
  co_return std::max(asked, inode.attributes().value().size);
}

/// Sends all octets. An error after some of them counts only if nothing was written.
Task<Result<std::size_t>> write_all(FileSystem& fs, FileRef file, Incoming& incoming) {
  std::optional<cache::Kept> kept;
  std::size_t done = 0;
  while (done < incoming.data.size()) {
    auto count = co_await write_part(fs, *file, incoming, done, kept);
    if (!count && done > 0) break;
    CO_TRY(count);
    if (*count == 0) break;
    done += *count;
  }
  co_return done;
}

Task<Result<std::size_t>> write_at_end(FileSystem& fs, FileRef file, Incoming& incoming) {
  auto offset = co_await append_offset(fs, *file, incoming.offset);
  CO_TRY(offset);
  const bool moved = *offset != incoming.offset;
  incoming.offset = *offset;
  auto written = co_await write_all(fs, file, incoming);
  if (moved) {
    // The kernel has put the octets where it took the end to be.
    fs.notifier().drop_pages(file->inode->id());
    fs.notifier().drop_attributes(file->inode->id());
  }
  co_return written;
}

Task<void> run(FileSystem& fs, Request request, FileRef file, Incoming incoming) {
  if (fs.kept_memory().filling()) spawn(relieve(fs));
  co_await fs.kept_memory().room();
  auto pass = co_await file->shared->gate.enter(cache::WriteGate::Mode::shared);
  if (!file->open) {
    request.reply_error(EBADF);
    co_return;
  }
  auto writing = file->append && !incoming.write_back ? write_at_end(fs, file, incoming)
                                                      : write_all(fs, file, incoming);
  auto written = co_await writing;
  if (written) {
    request.reply_write(*written);
    co_return;
  }
  const int error_number = client::to_errno(written.error());
  // Who was answered early learns of the failure at the next flush.
  if (!request.reply_error(error_number)) file->shared->errors.record(error_number);
}

}  // namespace

void handle::write(fuse_req_t req, fuse_ino_t, const char* data, std::size_t size, off_t offset,
                   fuse_file_info* info) {
  FileSystem& fs = FileSystem::of(req);
  Request request(req);
  FileRef file = file_or_refuse(fs, request, *info);
  if (!file) return;
  Incoming incoming;
  incoming.slot = request.take_buffer();
  incoming.data = std::as_bytes(std::span(data, size));
  incoming.offset = static_cast<std::uint64_t>(offset);
  incoming.write_back = info->writepage != 0;
  spawn(run(fs, std::move(request), std::move(file), std::move(incoming)));
}

}  // namespace nfsrdma::fs
