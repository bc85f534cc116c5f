#include "cache/write/commit.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "cache/file/io_lock.h"
#include "cache/write/send_write.h"
#include "client/requests/commit.h"
#include "client/requests/errno.h"
#include "transport/base/log.h"

namespace nfsrdma::cache {
namespace {

/// Copies of small writes lie in memory the network cannot reach.
std::span<const std::byte> sendable(WriteBack& writes, std::span<const std::byte> data) {
  const std::span<std::byte> slot = writes.resend_memory();
  const std::size_t length = std::min(data.size(), slot.size());
  std::memcpy(slot.data(), data.data(), length);
  return slot.first(length);
}

/// In whose name lost bytes are sent again: by an open file that has a lock on them, so that they
/// do not go over what others have written after the lock was lost; else by the one given, or by
/// another if that one has been closed while it waited for its turn.
struct Resender {
  FileRef file;
  client::FileLocks::LockRef lock;
};

Resender resender(const FileRef& file, client::ByteRange range) {
  const FileRef other_writer = file->open ? nullptr : file->shared->any_writer();
  Resender found{other_writer ? other_writer : file, nullptr};
  file->shared->files.for_each([&](File& other) {
    if (!other.writable()) return;
    const auto lock = lock_for_io(other, IoCaller{}, range);
    const bool better = lock && (!found.lock || lock->any_lost());
    if (better) found = {&other, lock};
  });
  return found;
}

/// Sends one lost piece, or its beginning, again; bytes that are durable then are no longer kept. A
/// server that answers UNSTABLE4 nevertheless (RFC 8881 section 18.32.3 forbids it) needs another
/// COMMIT.
Task<Result<void>> send_again(WriteBack& writes, FileRef file, UncommittedData::Lost lost) {
  const std::size_t limit = std::min<std::size_t>(lost.kept.data.size(), writes.mount().wsize());
  const auto data = sendable(writes, lost.kept.data.first(limit));
  const Resender by = resender(file, io_range(lost.offset, data.size()));
  auto written = co_await write_once(writes, by.file, lost.offset, data, nfs4::FILE_SYNC4, by.lock);
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
Task<void> send_lost(WriteBack& writes, FileRef file) {
  const std::shared_ptr<OpenInode> open = file->shared;
  auto pass = co_await open->gate.enter(Gate::Mode::exclusive);
  auto memory = co_await writes.resend_mutex().lock();
  for (auto lost = open->uncommitted.next_lost(); lost; lost = open->uncommitted.next_lost()) {
    auto sent = co_await send_again(writes, file, *lost);
    if (sent) continue;
    writes.note_failure(*file->inode, "sending-again", sent.error());
    open->errors.record(client::to_errno(sent.error()));
    open->uncommitted.supersede(lost->offset, lost->kept.data.size());
  }
}

/// Gives up the data kept at the time of `mark`.
void give_up(OpenInode& open, UncommittedData::Mark mark, int error_number) {
  open.errors.record(error_number);
  open.uncommitted.abandon(mark);
}

/// COMMIT of all that was sent, and the verifier that it has brought.
Task<Result<nfs4::verifier4>> send_commit(WriteBack& writes, FileRef file, CommitAsks asks) {
  constexpr std::uint64_t kFromStart = 0;
  constexpr std::uint32_t kToEnd = 0;
  if (asks == CommitAsks::nothing) {
    auto verifier = co_await client::commit(writes.mount(), file->caller, file->inode->handle(),
                                            kFromStart, kToEnd);
    co_return verifier;
  }
  const Issue issue = writes.attributes().issue();
  auto committed = co_await client::commit_and_look(writes.mount(), file->caller,
                                                    file->inode->handle(), kFromStart, kToEnd);
  CO_TRY(committed);
  if (committed->attributes) {
    writes.attributes().learn(*file->inode, *committed->attributes, issue, ChangedBy::anyone);
  }
  co_return committed->verifier;
}

/// One COMMIT. True when data that it had not made durable was sent again.
Task<bool> commit_once(WriteBack& writes, FileRef file, UncommittedData::Mark mark,
                       CommitAsks asks) {
  OpenInode& open = *file->shared;
  auto verifier = co_await send_commit(writes, file, asks);
  if (!verifier) {
    writes.note_refused(*file->inode, file->caller.uid, verifier.error());
    writes.note_failure(*file->inode, "commit", verifier.error());
    give_up(open, mark, client::to_errno(verifier.error()));
    co_return false;
  }
  const std::size_t lost = open.uncommitted.committed(mark, *verifier);
  if (lost == 0) co_return false;
  log::info("the server has restarted: {} writes are sent again", lost);
  co_await send_lost(writes, file);
  co_return true;
}

/// COMMITs that find data lost, one after the other, before the server is taken not to keep any.
constexpr int kMostCommits = 8;

/// Commits the data that was sent. The caller holds `committing`.
Task<void> commit_sent(WriteBack& writes, FileRef file, CommitAsks asks = CommitAsks::nothing) {
  const std::shared_ptr<OpenInode> open = file->shared;
  const std::uint64_t times_forgotten = writes.memory().times_forgotten();
  UncommittedData::Mark mark = open->uncommitted.mark();
  // Data that was sent again is durable as a rule; then nothing is left to commit.
  for (int commits = 0; open->uncommitted.any_until(mark); ++commits) {
    if (commits == kMostCommits) {
      const Error error = Error::local(EIO, "COMMIT", "the server does not keep what it is sent");
      writes.note_failure(*file->inode, "commit", error);
      give_up(*open, mark, EIO);
      break;
    }
    const bool sent_again = co_await commit_once(writes, file, mark, asks);
    if (sent_again) mark = open->uncommitted.mark();
  }
  open->kept_under = times_forgotten;  // what is left was kept later
  writes.list(*open);
}

/// Files that are committed side by side when memory is full: so one whose COMMIT does not end
/// leaves the others theirs.
constexpr std::size_t kMostReliefs = 4;

/// A writer of the file that is to be committed next for the sake of memory; null: there is none.
FileRef next_to_relieve(WriteBack& writes) {
  while (writes.memory().filling() && !writes.uncommitted().empty()) {
    OpenInode& oldest = writes.uncommitted().front();
    oldest.unlink();
    // It is being committed; who does that puts it in the list again.
    if (oldest.committing.held()) continue;
    // Without one the last writer is closing the file, and commits it.
    if (FileRef writer = oldest.any_writer()) return writer;
  }
  return {};
}

/// Commits this file, and then others, one after the other.
Task<void> relieve_from(WriteBack& writes, FileRef writer) {
  while (writer) {
    {
      // Writes go on meanwhile: to wait for those in flight would empty the line to the server.
      const std::shared_ptr<OpenInode> open = writer->shared;
      auto guard = co_await open->committing.lock();
      co_await commit_sent(writes, writer);
    }
    writer = next_to_relieve(writes);
  }
  writes.end_relief();
}

}  // namespace

Task<void> commit_file(WriteBack& writes, FileRef file, CommitAsks asks) {
  {
    const std::shared_ptr<OpenInode> open = file->shared;
    auto guard = co_await open->committing.lock();
    co_await writes.behind().flush_durably(open);
    co_await commit_sent(writes, file, asks);
  }
  // Memory was not made of this file meanwhile, and others may have nothing to give.
  if (writes.memory().full()) relieve(writes);
}

Task<void> restore_lost(WriteBack& writes, std::shared_ptr<OpenInode> open) {
  if (!open->may_be_lost()) co_return;
  // Without one the last writer is closing the file, and commits it.
  if (const FileRef writer = open->any_writer()) co_await commit_file(writes, writer);
}

void relieve(WriteBack& writes) {
  // While writers need not wait, one is enough: each COMMIT has the server wait for its disks.
  const std::size_t most = writes.memory().full() ? kMostReliefs : 1;
  const OriginScope background(kNoOrigin);  // whoever writes next does not wait for it
  while (writes.reliefs() < most) {
    FileRef writer = next_to_relieve(writes);
    if (!writer) return;
    writes.begin_relief();
    spawn(relieve_from(writes, std::move(writer)));
  }
}

}  // namespace nfsrdma::cache
