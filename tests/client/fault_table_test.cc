// Each fault with each class of operation: the operation succeeds, its effect is there once, what
// was open goes on, RECLAIM_COMPLETE was sent once for each client id, and all of it took no longer
// than two lease times. One test for each cell.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "client/ops/access.h"
#include "client/ops/close.h"
#include "client/ops/commit.h"
#include "client/ops/create.h"
#include "client/ops/errno.h"
#include "client/ops/getattr.h"
#include "client/ops/link.h"
#include "client/ops/lock.h"
#include "client/ops/lookup.h"
#include "client/ops/read.h"
#include "client/ops/readdir.h"
#include "client/ops/readlink.h"
#include "client/ops/remove.h"
#include "client/ops/rename.h"
#include "client/ops/setattr.h"
#include "client/ops/statfs.h"
#include "client/ops/write.h"
#include "tests/client/served_mount.h"

namespace nfsrdma::client::test {
namespace {

using namespace nfs4;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::uint32_t kGraceSeconds = 45;
constexpr const char* kContent = "content of the file";

const ByteRange kLocked{10, 19};
const LockWish kLockWish{
    .owner = {LockKind::posix, 7}, .pid = 1, .range = kLocked, .exclusive = true};

class FaultTable;

enum class Kind {
  query,     ///< changes nothing: its reply need not be kept, it may be executed twice
  harmless,  ///< a change that may be made again when the server has forgotten its reply
  once,      ///< a change that must be made exactly once
  lock_use,  ///< of a lock held before: fails, with the file, when the server has forgotten the
             ///< lock
};

/// A class of operations.
struct Operation {
  const char* name;
  nfs_opnum4 opnum;  ///< which operation of the COMPOUND the fault is aimed at
  Kind kind;
  Task<Result<void>> (*run)(FaultTable* table);
  bool (*done)(FaultTable& table);  ///< whether its effect is there, once
};

void PrintTo(const Operation& operation, std::ostream* out) { *out << operation.name; }

/// What goes wrong while the operation is under way.
struct Fault {
  const char* name;
  bool forgets_replies;  ///< the server cannot tell a repetition from a new request
  bool forgets_locks;    ///< and nobody may reclaim them
  void (*arm)(FaultTable& table);
};

void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.name; }

class FaultTable : public ServedMount,
                   public ::testing::WithParamInterface<std::tuple<Operation, Fault>> {
 public:
  const Operation& operation() const { return std::get<0>(GetParam()); }
  ServedDirectory& server() { return server_; }
  VirtualReactor& reactor() { return reactor_; }
  Mount& here() { return mount(); }
  Caller who() const { return caller(); }
  FileHandle file() const { return handle_; }
  StateRef state() const { return kept_->open.state(); }
  OpenFileRef locked_file() const { return locked_->open.file(); }
  /// Another owner on this mount asks the server.
  bool locked_at_server() {
    const LockWish other{.owner = {LockKind::posix, 99}, .range = kLocked, .exclusive = true};
    auto conflict = run(test_lock(mount(), locked_file(), other));
    return conflict && conflict->has_value();
  }
  OpenRef take_closing() { return std::move(closing_->open); }
  Buffer& buffer() { return buffer_; }
  std::string& text() { return text_; }
  /// The fault strikes once, when the operation's call arrives.
  bool strikes(const Arrival& arrival) {
    return !struck_ && arrival.has(operation().opnum) && (struck_ = true);
  }
  void note_end_of_outage() { outage_ended_ = reactor_.now(); }

 protected:
  void SetUp() override {
    ServedMount::SetUp();
    server_.write_file("file", kContent);
    server_.write_file("other", "other");
    server_.write_file("closing", "closing");
    server_.write_file("short", "four");
    server_.write_file("locked", "locked");
    kept_ = open_file("file", OPEN4_SHARE_ACCESS_BOTH);
    locked_ = open_file("locked", OPEN4_SHARE_ACCESS_BOTH);
    handle_ = kept_->handle;
    closing_ = open_file("closing", OPEN4_SHARE_ACCESS_READ);
    buffer_ = data_->acquire();
    ASSERT_TRUE(run(make_symlink(mount(), caller(), root(), "pointer", "target")));
    if (operation().kind == Kind::lock_use) {
      ASSERT_TRUE(run(lock(mount(), locked_file(), kLockWish)));
    }
    before_ = server_.successes_of(operation().opnum);
  }
  void TearDown() override {
    buffer_ = {};
    kept_.reset();
    locked_.reset();
    closing_.reset();
    reactor_.settle();
    ServedMount::TearDown();
  }

  void check_the_rest(TimePoint begun);

  std::optional<Opened> kept_;
  std::optional<Opened> locked_;
  std::optional<Opened> closing_;
  FileHandle handle_;
  Buffer buffer_;
  std::string text_;
  int before_ = 0;
  bool struck_ = false;
  TimePoint outage_ended_{0};
};

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
Task<Result<void>> do_close(FaultTable* t) { return close(t->here(), t->take_closing()); }
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
  return rename(t->here(), t->who(), t->here().root(), "other", t->here().root(), "new");
}
Task<Result<void>> do_remove(FaultTable* t) {
  return remove(t->here(), t->who(), t->here().root(), "other");
}
Task<Result<void>> do_access(FaultTable* t) {
  return dropping(access(t->here(), t->who(), t->file(), ACCESS4_READ));
}
Task<Result<void>> do_statfs(FaultTable* t) {
  return dropping(statfs(t->here(), t->who(), t->file()));
}
Task<Result<void>> do_lock(FaultTable* t) { return lock(t->here(), t->locked_file(), kLockWish); }
Task<Result<void>> do_unlock(FaultTable* t) {
  return unlock(t->here(), t->locked_file(), kLockWish.owner, kLocked);
}
Task<Result<void>> do_test_lock(FaultTable* t) {
  return dropping(test_lock(t->here(), t->locked_file(), kLockWish));
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
    {"TestLock", OP_LOCKT, Kind::query, do_test_lock, nothing},
};

void break_with(FaultTable& t, Fate fate) {
  t.server().fate = [&t, fate](const Arrival& arrival) {
    return t.strikes(arrival) ? fate : Fate::answer;
  };
}

void disconnect_before(FaultTable& t) { break_with(t, Fate::disconnect_before); }
void disconnect_after(FaultTable& t) { break_with(t, Fate::disconnect_after); }

// The server is at it for another second; the repetition meets a request in progress.
void disconnect_meanwhile(FaultTable& t) {
  responder::OperationFault slow;
  slow.opnum = t.operation().opnum;
  slow.delay = seconds(1);
  t.server().service().inject(slow);
  break_with(t, Fate::disconnect_after);
}

template <void (*Strike)(FaultTable&)>
void before(FaultTable& t) {
  t.server().fate = [&t](const Arrival& arrival) {
    if (!t.strikes(arrival)) return Fate::answer;
    Strike(t);
    return Fate::disconnect_before;
  };
}

/// The call has been executed, its answer is lost.
template <void (*Strike)(FaultTable&)>
void after(FaultTable& t) {
  t.server().fate = [&t](const Arrival& arrival) {
    return t.strikes(arrival) ? Fate::disconnect_after : Fate::answer;
  };
  t.server().after = [&t](const Arrival& arrival) {
    if (!arrival.has(t.operation().opnum)) return;
    t.server().after = nullptr;
    Strike(t);
  };
}

void reboot(FaultTable& t) { t.server().reboot(0); }
void reboot_with_grace(FaultTable& t) { t.server().reboot(kGraceSeconds); }
void destroy_sessions(FaultTable& t) { t.server().service().destroy_sessions(); }

void destroy_sessions_before(FaultTable& t) {
  t.server().fate = [&t](const Arrival& arrival) {
    if (t.strikes(arrival)) destroy_sessions(t);
    return Fate::answer;
  };
}

// Out of reach for two leases.
void expire_lease(FaultTable& t) {
  t.server().unreachable = true;
  static std::unique_ptr<Timer> timer;
  timer = std::make_unique<Timer>(t.reactor(), [&t] {
    t.server().unreachable = false;
    t.note_end_of_outage();
  });
  timer->arm(2 * seconds(ServedDirectory::kLeaseSeconds));
}

void fail_three_times(FaultTable& t, nfsstat4 status) {
  t.server().fail(t.operation().opnum, status, 3);
}
void delay(FaultTable& t) { fail_three_times(t, NFS4ERR_DELAY); }
void grace(FaultTable& t) { fail_three_times(t, NFS4ERR_GRACE); }
void callback_path_down(FaultTable& t) { t.server().lose_callback_path(); }

const Fault kFaults[] = {
    {"DisconnectBeforeSend", false, false, disconnect_before},
    {"DisconnectAfterSend", false, false, disconnect_meanwhile},
    {"DisconnectAfterExecution", false, false, disconnect_after},
    {"RebootBefore", true, true, before<reboot>},
    {"RebootAfter", true, true, after<reboot>},
    {"RebootWithGraceBefore", true, false, before<reboot_with_grace>},
    {"RebootWithGraceAfter", true, false, after<reboot_with_grace>},
    {"SessionDestroyedBefore", false, false, destroy_sessions_before},
    {"SessionDestroyedAfter", true, false, after<destroy_sessions>},
    {"LeaseExpiredBefore", true, true, before<expire_lease>},
    {"LeaseExpiredAfter", true, true, after<expire_lease>},
    {"Delay", false, false, delay},
    {"Grace", false, false, grace},
    {"CallbackPathDown", false, false, callback_path_down},
};

/// What was open goes on, and recovery has ended in time.
void FaultTable::check_the_rest(TimePoint begun) {
  auto text = read_text(*kept_);
  ASSERT_TRUE(text) << text.error().message();
  EXPECT_EQ(*text, server_.read_file("file"));
  auto written = write_text(*kept_, 0, "C");
  ASSERT_TRUE(written) << written.error().message();
  EXPECT_LE(reactor_.now() - std::max(begun, outage_ended_), 2 * kLease);
  EXPECT_EQ(counter("recovery_states_pending"), 0U);
  EXPECT_EQ(server_.successes_of(OP_RECLAIM_COMPLETE),
            static_cast<int>(counter("recovery_client_ids")));
}

TEST_P(FaultTable, Cell) {
  const auto& [operation, fault] = GetParam();
  const TimePoint begun = reactor_.now();
  fault.arm(*this);
  auto ended = run(operation.run(this));
  if (operation.kind == Kind::lock_use && fault.forgets_locks) {
    ASSERT_FALSE(ended) << "a lock that was lost must not go unnoticed";
    EXPECT_EQ(to_errno(ended.error()), EIO);
    EXPECT_TRUE(locked_file()->lost());
    EXPECT_EQ(counter("opens_lost"), 1U);
    return check_the_rest(begun);
  }
  EXPECT_EQ(counter("opens_lost"), 0U);
  ASSERT_TRUE(ended) << ended.error().message();
  EXPECT_TRUE(operation.done(*this)) << "the effect";
  const int executed = server_.successes_of(operation.opnum) - before_;
  const bool repeatable = operation.kind != Kind::once && fault.forgets_replies;
  if (operation.kind != Kind::query && !repeatable) {
    EXPECT_EQ(executed, 1);
  }
  check_the_rest(begun);
}

std::string cell_name(const ::testing::TestParamInfo<std::tuple<Operation, Fault>>& info) {
  return std::string(std::get<0>(info.param).name) + std::get<1>(info.param).name;
}

INSTANTIATE_TEST_SUITE_P(Of, FaultTable,
                         ::testing::Combine(::testing::ValuesIn(kOperations),
                                            ::testing::ValuesIn(kFaults)),
                         cell_name);

}  // namespace
}  // namespace nfsrdma::client::test
