#include "fuse/ops/commit.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "client/requests/commit.h"
#include "client/requests/errno.h"
#include "fuse/ops/file_locks.h"
#include "fuse/ops/reply.h"
#include "fuse/ops/send_write.h"
#include "transport/base/log.h"

namespace nfsrdma::fuse {
namespace {

using cache::UncommittedData;

/// Copies of small writes lie in memory the network cannot reach.
std::span<const std::byte> sendable(FileSystem& fs, std::span<const std::byte> data) {
  const std::span<std::byte> slot = fs.resend_memory();
  const std::size_t length = std::min(data.size(), slot.size());
  std::memcpy(slot.data(), data.data(), length);
  return slot.first(length);
}

/// In whose name lost bytes are sent again: by an open file that has a lock on them, so that they
/// do not go over what others have written after the lock was lost; else by the one given.
struct Resender {
  FileRef file;
  client::FileLocks::LockRef lock;
};

Resender resender(const FileRef& file, client::ByteRange range) {
  Resender found{file, nullptr};
  file->shared->files.for_each([&](File& other) {
    if (!other.writable()) return;
    const auto lock = lock_for_io(other, IoCaller{}, range);
    const bool better = lock && (!found.lock || lock->any_lost());
    if (better) found = {&other, lock};
  });
  return found;
}

/// Sends one lost piece, or its beginning, again; what is durable now is no longer kept. A server
/// that answers UNSTABLE4 all the same (RFC 8881 section 18.32.3 forbids it) has to be asked for a
/// COMMIT.
Task<Result<void>> send_again(FileSystem& fs, FileRef file, UncommittedData::Lost lost) {
  const std::size_t limit = std::min<std::size_t>(lost.kept.data.size(), fs.mount().wsize());
  const auto data = sendable(fs, lost.kept.data.first(limit));
  const Resender by = resender(file, io_range(lost.offset, data.size()));
  auto written = co_await write_once(fs, by.file, lost.offset, data, nfs4::FILE_SYNC4, by.lock);
  CO_TRY(written);
  UncommittedData& uncommitted = file->shared->uncommitted;
  if (written->committed == nfs4::UNSTABLE4) {
    uncommitted.keep(lost.offset, {lost.kept.owner, lost.kept.data.first(written->count)},
                     written->verifier);
  } else {
    uncommitted.supersede(lost.offset, written->count);
  }
  co_return Result<void>();
}

/// No write runs meanwhile, so that old data cannot replace newer.
Task<void> send_lost(FileSystem& fs, FileRef file) {
  const std::shared_ptr<OpenInode> open = file->shared;
  auto pass = co_await open->gate.enter(cache::WriteGate::Mode::exclusive);
  auto memory = co_await fs.resend_mutex().lock();
  for (auto lost = open->uncommitted.next_lost(); lost; lost = open->uncommitted.next_lost()) {
    auto sent = co_await send_again(fs, file, *lost);
    if (sent) continue;
    note_background_failure(fs, *file->inode, "sending-again", sent.error());
    open->errors.record(client::to_errno(sent.error()));
    open->uncommitted.supersede(lost->offset, lost->kept.data.size());
  }
}

/// What is kept at the time of `mark` is given up.
void give_up(OpenInode& open, UncommittedData::Mark mark, int error_number) {
  open.errors.record(error_number);
  open.uncommitted.abandon(mark);
}

/// One COMMIT. True when data that it had not made durable was sent again.
Task<bool> commit_once(FileSystem& fs, FileRef file, UncommittedData::Mark mark) {
  OpenInode& open = *file->shared;
  constexpr std::uint64_t kFromStart = 0;
  constexpr std::uint32_t kToEnd = 0;
  auto verifier =
      co_await client::commit(fs.mount(), file->caller, file->inode->handle(), kFromStart, kToEnd);
  if (!verifier) {
    note_background_failure(fs, *file->inode, "commit", verifier.error());
    give_up(open, mark, client::to_errno(verifier.error()));
    co_return false;
  }
  const std::size_t lost = open.uncommitted.committed(mark, *verifier);
  if (lost == 0) co_return false;
  log::info("the server has restarted: {} writes are sent again", lost);
  co_await send_lost(fs, file);
  co_return true;
}

/// COMMITs that find data lost, one after the other, before the server is taken not to keep any.
constexpr int kMostCommits = 8;

}  // namespace

Task<void> commit_file(FileSystem& fs, FileRef file) {
  const std::shared_ptr<OpenInode> open = file->shared;
  auto guard = co_await open->committing.lock();
  co_await fs.write_behind().flush_durably(open);
  UncommittedData::Mark mark = open->uncommitted.mark();
  // What was sent again is durable as a rule: then nothing is left to be committed.
  for (int commits = 0; open->uncommitted.any_until(mark); ++commits) {
    if (commits == kMostCommits) {
      const Error error = Error::local(EIO, "COMMIT", "the server does not keep what it is sent");
      note_background_failure(fs, *file->inode, "commit", error);
      give_up(*open, mark, EIO);
      break;
    }
    const bool sent_again = co_await commit_once(fs, file, mark);
    if (sent_again) mark = open->uncommitted.mark();
  }
  list_uncommitted(fs, *open);
}

Task<void> relieve(FileSystem& fs) {
  if (!fs.begin_relief()) co_return;
  while (fs.uncommitted_memory().filling() && !fs.uncommitted().empty()) {
    OpenInode& oldest = fs.uncommitted().front();
    oldest.unlink();
    const FileRef writer = any_writer(oldest);
    // Without one the last writer is closing the file, and commits it.
    if (writer) co_await commit_file(fs, writer);
  }
  fs.end_relief();
}

FileRef any_writer(OpenInode& open) {
  FileRef writer;
  open.files.for_each([&](File& file) {
    if (!writer && file.writable()) writer = &file;
  });
  return writer;
}

void list_uncommitted(FileSystem& fs, OpenInode& open) {
  if (open.uncommitted.empty()) {
    open.unlink();
  } else if (!open.linked()) {
    fs.uncommitted().push_back(open);
  }
}

}  // namespace nfsrdma::fuse
