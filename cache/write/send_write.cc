#include "cache/write/send_write.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>

#include "cache/file/io_lock.h"
#include "cache/write/commit.h"
#include "cache/write/write.h"
#include "client/files/delegations.h"

namespace nfsrdma::cache {
namespace {

/// A reply that was overtaken has not been taken in: appends have to know this end of the file. A
/// WRITE can take away set-id bits, but does not ask for the mode, and nor does the kernel then.
void doubt_attributes(WriteBack& writes, Inode& inode, std::uint64_t end) {
  const FileAttributes& known = inode.attributes().value();
  const bool set_id = (known.mode & (S_ISUID | S_ISGID)) != 0;
  if (set_id) writes.attributes().doubt(inode);
  if (set_id || known.size < end) writes.attributes().outdate(inode);
}

/// Sends the bytes from `done` on; returns how many the server took. Unstable ones are kept.
Task<Result<std::size_t>> send_part(WriteBack& writes, FileRef file, const Outgoing& outgoing,
                                    std::size_t done, std::optional<Uncommitted>& kept) {
  const std::size_t length =
      std::min<std::size_t>(outgoing.data.size() - done, writes.mount().wsize());
  const std::uint64_t offset = outgoing.offset + done;
  OpenInode& open = *file->shared;
  auto written = co_await write_once(writes, file, offset, outgoing.data.subspan(done, length),
                                     outgoing.stable, outgoing.lock);
  CO_TRY(written);
  const std::size_t count = std::min<std::size_t>(written->count, length);
  if (written->committed != nfs4::UNSTABLE4) {
    open.uncommitted.supersede(offset, count);
    co_return count;
  }
  if (!kept) kept = writes.memory().keep(*outgoing.slot, outgoing.data);
  writes.keep(open, offset, {kept->owner, kept->data.subspan(done, count)}, written->verifier);
  // Without memory no request may come any more that would have some made.
  if (writes.memory().full()) relieve(writes);
  co_return count;
}

}  // namespace

Task<Result<client::Written>> write_once(WriteBack& writes, FileRef file, std::uint64_t offset,
                                         std::span<const std::byte> data, nfs4::stable_how4 stable,
                                         client::FileLocks::LockRef lock) {
  Inode& inode = *file->inode;
  const Issue issue = writes.attributes().issue();
  const client::DelegationRef delegation = writes.mount().delegations().held(inode.handle());
  const std::uint64_t old_end = inode.attributes().value().size;
  const std::uint32_t resizes = delegation ? delegation->resizes() : 0;
  auto written = co_await client::write(writes.mount(), file->caller, inode.handle(),
                                        io_state(*file, lock), offset, data, stable);
  // After a failure, too: the server may have written, so bytes read before may be stale.
  file->shared->drop_read_ahead(offset, offset + data.size());
  if (!written) writes.note_refused(inode, file->caller.uid, written.error());
  CO_TRY(written);
  // A part of the bytes may be all that there was room for.
  if (offset + data.size() > old_end && written->count == data.size())
    writes.full().grown(inode.attributes().value().fsid, file->caller.uid);
  if (delegation) delegation->wrote_to(offset + written->count, resizes);
  if (written->attributes) {
    writes.attributes().learn(inode, *written->attributes, issue,
                              ChangedBy::us(written->change_before));
  } else {
    writes.attributes().outdate(inode);
  }
  doubt_attributes(writes, inode, offset + written->count);
  co_return written;
}

Task<Result<std::size_t>> send_write(WriteBack& writes, FileRef file, Outgoing outgoing,
                                     Writer* writer) {
  const std::shared_ptr<OpenInode> open = file->shared;
  WriteOrder::Turn turn(open->order, outgoing.kind, outgoing.offset, outgoing.data.size(),
                        outgoing.place);
  if (writer) writer->on_placed();
  auto pass = co_await open->gate.enter(Gate::Mode::shared);
  co_await turn;
  if (!file->open) co_return fail(Error::local(EBADF, "WRITE", "the file is closed"));
  if (!writer && writes.memory().filling()) relieve(writes);
  std::optional<Uncommitted> kept;
  std::size_t done = 0;
  while (done < outgoing.data.size()) {
    auto count = co_await send_part(writes, file, outgoing, done, kept);
    if (!count && done > 0 && !outgoing.whole) break;
    CO_TRY(count);
    if (*count == 0) break;
    done += *count;
  }
  co_return done;
}

}  // namespace nfsrdma::cache
