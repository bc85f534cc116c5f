// The classes of operations: how each is run, and how one sees that it has been done.
#include <cstring>

#include "client/files/delegations.h"
#include "client/files/locked_io.h"
#include "client/files/open_files.h"
#include "client/files/setattr.h"
#include "client/requests/access.h"
#include "client/requests/commit.h"
#include "client/requests/getattr.h"
#include "client/requests/link.h"
#include "client/requests/lookup.h"
#include "client/requests/read.h"
#include "client/requests/readdir.h"
#include "client/requests/readlink.h"
#include "client/requests/remove.h"
#include "client/requests/rename.h"
#include "client/requests/write.h"
#include "tests/client/fault_table.h"

namespace nfsrdma::client::test {
namespace {

using namespace nfs4;

template <class T>
Task<Result<void>> dropping(Task<Result<T>> task) {
  auto result = co_await task;
  CO_TRY(result);
  co_return Result<void>{};
}

Task<Result<void>> do_getattr(FaultTable* t) {
  return dropping(getattr(t->here(), t->who(), t->file()));
}
Task<Result<void>> do_lookup(FaultTable* t) {
  return dropping(lookup(t->here(), t->who(), t->here().root(), "other"));
}
Task<Result<void>> do_readdir(FaultTable* t) {
  return dropping(readdir(t->here(), t->who(), t->here().root(), 0, {}, 4096, true));
}
Task<Result<void>> do_readlink(FaultTable* t) {
  auto found = co_await lookup(t->here(), t->who(), t->here().root(), "pointer");
  CO_TRY(found);
  const FileHandle link = found->handle;
  auto target = co_await readlink(t->here(), t->who(), link);
  CO_TRY(target);
  t->text() = *target;
  co_return Result<void>{};
}
Task<Result<void>> do_read(FaultTable* t) {
  auto data = co_await read(t->here(), t->who(), t->file(), t->state(), 0, t->buffer().bytes());
  CO_TRY(data);
  t->text().assign(reinterpret_cast<const char*>(data->data.data()), data->data.size());
  co_return Result<void>{};
}
Task<Result<void>> do_write(FaultTable* t) {
  std::memcpy(t->buffer().data(), "CONTENT", 7);
  return dropping(write(t->here(), t->who(), t->file(), t->state(), 0,
                        t->buffer().first(std::size_t{7}), UNSTABLE4));
}
Task<Result<void>> do_commit(FaultTable* t) {
  return dropping(commit(t->here(), t->who(), t->file(), 0, 0));
}
Task<Result<void>> do_truncate(FaultTable* t) {
  SetAttributes change;
  change.size = 7;
  return dropping(setattr(t->here(), t->who(), t->file(), t->state(), change));
}
Task<Result<void>> do_open(FaultTable* t) {
  return dropping(
      open_by_name(t->here(), t->who(), t->here().root(), "other", OPEN4_SHARE_ACCESS_READ));
}
Task<Result<void>> do_close(FaultTable* t) { return t->here().opens().close(t->take_closing()); }
Task<Result<void>> create_file(FaultTable* t, CreateMode mode) {
  SetAttributes initial;
  initial.mode = 0640;
  return dropping(create(t->here(), t->who(), t->here().root(), "new", mode, initial,
                         OPEN4_SHARE_ACCESS_WRITE));
}
Task<Result<void>> do_create(FaultTable* t) { return create_file(t, CreateMode::unchecked); }
Task<Result<void>> do_exclusive(FaultTable* t) { return create_file(t, CreateMode::exclusive); }
Task<Result<void>> do_mkdir(FaultTable* t) {
  return dropping(make_directory(t->here(), t->who(), t->here().root(), "new", 0750));
}
Task<Result<void>> do_symlink(FaultTable* t) {
  return dropping(make_symlink(t->here(), t->who(), t->here().root(), "new", "target"));
}
Task<Result<void>> do_mkfifo(FaultTable* t) {
  return dropping(make_node(t->here(), t->who(), t->here().root(), "new", NF4FIFO, 0640, {}));
}
Task<Result<void>> do_link(FaultTable* t) {
  return dropping(link(t->here(), t->who(), t->file(), t->here().root(), "new"));
}
Task<Result<void>> do_rename(FaultTable* t) {
  return dropping(rename(t->here(), t->who(), t->here().root(), "other", t->here().root(), "new"));
}
Task<Result<void>> do_remove(FaultTable* t) {
  return dropping(remove(t->here(), t->who(), t->here().root(), "other"));
}
Task<Result<void>> do_access(FaultTable* t) {
  return dropping(access(t->here(), t->who(), t->file(), ACCESS4_READ));
}
Task<Result<void>> do_statfs(FaultTable* t) {
  return dropping(statfs(t->here(), t->who(), t->file()));
}
Task<Result<void>> do_lock(FaultTable* t) {
  return dropping(client::lock(t->here(), t->locked_file(), kWantedLock));
}
Task<Result<void>> do_unlock(FaultTable* t) {
  return unlock(t->here(), t->locked_file(), kWantedLock.owner, kLocked);
}
Task<Result<void>> do_unlock_all(FaultTable* t) {
  return unlock_all(t->here(), t->locked_file(), kWantedLock.owner);
}
Task<Result<void>> do_test_lock(FaultTable* t) {
  return dropping(test_lock(t->here(), t->locked_file(), kWantedLock));
}

/// A lock that was taken under the delegation becomes the server's.
Task<Result<void>> do_return_locked(FaultTable* t) {
  const OpenFileRef file = t->locked_file();
  co_await t->here().delegations().give_back(file->handle());
  const StateRef holder = io_state(file, file->locks().find(kWantedLock.owner));
  auto used = co_await read(t->here(), t->who(), file->handle(), holder, 0, t->buffer().bytes());
  CO_TRY(used);
  co_return Result<void>{};
}

bool nothing(FaultTable&) { return true; }
bool has_read(FaultTable& t) { return t.text() == kContent; }
bool has_read_link(FaultTable& t) { return t.text() == "target"; }
bool has_written(FaultTable& t) { return t.server().read_file("file") == "CONTENT of the file"; }
bool has_truncated(FaultTable& t) { return t.server().read_file("file") == "content"; }
bool has_made(FaultTable& t) { return t.server().exists("new"); }
bool has_linked(FaultTable& t) { return t.server().read_file("new") == kContent; }
bool has_renamed(FaultTable& t) {
  return t.server().read_file("new") == "other" && !t.server().exists("other");
}
bool has_removed(FaultTable& t) { return !t.server().exists("other"); }
bool has_locked(FaultTable& t) { return t.locked_at_server(); }
bool has_unlocked(FaultTable& t) { return !t.locked_at_server(); }

const Operation kOperations[] = {
    {"Getattr", OP_GETATTR, Kind::query, do_getattr, nothing},
    {"Lookup", OP_LOOKUP, Kind::query, do_lookup, nothing},
    {"Readdir", OP_READDIR, Kind::query, do_readdir, nothing},
    {"Readlink", OP_READLINK, Kind::query, do_readlink, has_read_link},
    {"Read", OP_READ, Kind::query, do_read, has_read},
    {"Write", OP_WRITE, Kind::harmless, do_write, has_written},
    {"Commit", OP_COMMIT, Kind::query, do_commit, nothing},
    {"Truncate", OP_SETATTR, Kind::harmless, do_truncate, has_truncated},
    {"Open", OP_OPEN, Kind::harmless, do_open, nothing},
    {"Close", OP_CLOSE, Kind::harmless, do_close, nothing},
    {"Create", OP_OPEN, Kind::harmless, do_create, has_made},
    {"Exclusive", OP_OPEN, Kind::harmless, do_exclusive, has_made},
    {"Mkdir", OP_CREATE, Kind::once, do_mkdir, has_made},
    {"Symlink", OP_CREATE, Kind::once, do_symlink, has_made},
    {"Mkfifo", OP_CREATE, Kind::once, do_mkfifo, has_made},
    {"Link", OP_LINK, Kind::once, do_link, has_linked},
    {"Rename", OP_RENAME, Kind::once, do_rename, has_renamed},
    {"Remove", OP_REMOVE, Kind::once, do_remove, has_removed},
    {"Access", OP_ACCESS, Kind::query, do_access, nothing},
    {"Statfs", OP_GETATTR, Kind::query, do_statfs, nothing},
    {"Lock", OP_LOCK, Kind::harmless, do_lock, has_locked},
    {"Unlock", OP_LOCKU, Kind::lock_use, do_unlock, has_unlocked},
    {"UnlockAll", OP_LOCKU, Kind::lock_use, do_unlock_all, has_unlocked},
    {"TestLock", OP_LOCKT, Kind::query, do_test_lock, nothing},
};

const Operation kOperationsOfDelegations[] = {
    {"ReturnLocked", OP_LOCK, Kind::lock_use, do_return_locked, has_locked},
    {"ReturnOfLocked", OP_DELEGRETURN, Kind::lock_use, do_return_locked, has_locked},
};

}  // namespace

std::span<const Operation> operations_of_table() { return kOperations; }

std::span<const Operation> operations_of_delegations() { return kOperationsOfDelegations; }

}  // namespace nfsrdma::client::test
