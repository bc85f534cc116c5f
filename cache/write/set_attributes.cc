#include "cache/write/set_attributes.h"

#include <algorithm>
#include <cerrno>

#include "cache/file/io_lock.h"
#include "cache/write/commit.h"
#include "client/files/delegations.h"
#include "client/state/same_user.h"
#include "transport/base/log.h"

namespace nfsrdma::cache {
namespace {

/// An open through which the size may be changed: the given one, or any of the same user. One of
/// other groups may be allowed more.
FileRef writer_of(const FileRef& file, OpenInode& open, const client::Credential& caller) {
  if (file && file->writable()) return file;
  FileRef found;
  open.files.for_each([&](File& other) {
    if (!found && other.writable() && client::same_user(other.caller, caller)) found = &other;
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
  // An answer that was overtaken has not been taken in: the caller would read what it has cut off.
  if (change.set.size && inode->attributes().value().size != *change.set.size) {
    attributes.outdate(*inode);
    auto asked = co_await attributes.revalidate(inode, change.caller);
    if (!asked) log::debug("{}", asked.error().message());
  }
  co_return Result<void>();
}

/// Alone among the file's writes, with no delegation on its way back: its return may have to send
/// lost data again, and waits at the gate for that.
Task<Gate::Pass> enter_alone(WriteBack& writes, InodeRef inode, std::shared_ptr<OpenInode> open) {
  client::Delegations& delegations = writes.mount().delegations();
  for (;;) {
    co_await delegations.give_back_for_change(inode->handle());
    auto pass = co_await open->gate.enter(Gate::Mode::exclusive);
    if (delegations.survives_change(inode->handle())) co_return std::move(pass);
  }
}

/// A WRITE sets the times and takes set-id bits away, one that is sent again after a restart of the
/// server as well. Most programs close the file next, and need no further COMMIT then.
Task<void> make_durable(WriteBack& writes, std::shared_ptr<OpenInode> open) {
  if (const FileRef writer = open->any_writer()) {
    co_await commit_file(writes, writer);
  } else {
    co_await writes.behind().flush_durably(open);  // the last writer is closing it, and commits it
  }
}

}  // namespace

Task<Result<void>> set_attributes(WriteBack& writes, InodeRef inode, FileRef through,
                                  AttributeChange change) {
  const std::shared_ptr<OpenInode> open = inode->open();
  if (!open || !change.set.size) {
    if (open) co_await make_durable(writes, open);
    auto changed = co_await apply_change(writes, std::move(inode), change, nullptr);
    co_return changed;
  }
  const FileRef writer = writer_of(through, *open, change.caller);
  co_await writes.behind().flush(open);
  const auto pass = co_await enter_alone(writes, inode, open);
  if (change.given_up && change.given_up()) {
    co_return fail(Error::local(EINTR, "SETATTR", "its caller has given it up"));
  }
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
