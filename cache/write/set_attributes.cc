#include "cache/write/set_attributes.h"

#include <algorithm>

#include "cache/file/io_lock.h"

namespace nfsrdma::cache {
namespace {

/// An open through which the size may be changed: the given one, or any of the same user.
FileRef writer_of(const FileRef& file, OpenInode& open, const client::Credential& caller) {
  if (file && file->writable()) return file;
  FileRef found;
  open.files.for_each([&](File& other) {
    if (!found && other.writable() && other.caller.uid == caller.uid) found = &other;
  });
  return found;
}

/// `state`: empty is the anonymous stateid.
Task<Result<void>> apply_change(WriteBack& writes, InodeRef inode, AttributeChange change,
                                client::StateRef state) {
  AttributeCache& attributes = writes.attributes();
  const Issue issue = attributes.issue();
  auto changed =
      co_await client::setattr(writes.mount(), change.caller, inode->handle(), state, change.set);
  const auto open = inode->open();
  if (open && change.set.size) open->drop_read_ahead();
  CO_TRY(changed);
  if (open && change.set.size) open->uncommitted.truncate(*change.set.size);
  attributes.learn(*inode, changed->attributes, issue, ChangedBy::us(changed->change_before));
  co_return Result<void>();
}

}  // namespace

Task<Result<void>> set_attributes(WriteBack& writes, InodeRef inode, FileRef through,
                                  AttributeChange change) {
  const std::shared_ptr<OpenInode> open = inode->open();
  if (!open || !change.set.size) {
    // Most programs close the file next.
    if (open && open->dirty()) co_await writes.behind().flush_durably(open);
    auto changed = co_await apply_change(writes, std::move(inode), change, nullptr);
    co_return changed;
  }
  const FileRef writer = writer_of(through, *open, change.caller);
  co_await writes.behind().flush(open);
  auto pass = co_await open->gate.enter(Gate::Mode::exclusive);
  client::StateRef state;
  if (writer && writer->open) {
    change.caller = writer->caller;
    const std::uint64_t from = std::min(*change.set.size, inode->attributes().value().size);
    const client::ByteRange range{from, client::ByteRange::kEnd};
    state = io_state(*writer, lock_for_io(*writer, IoCaller{0, change.pid}, range));
  }
  auto changed = co_await apply_change(writes, std::move(inode), change, std::move(state));
  co_return changed;
}

}  // namespace nfsrdma::cache
