// P16: NFS4ERR_DELAY means "not executed", no answer means "not known": an operation that is asked
// to wait ends as it would have without, and nothing sleeps for a fixed time.
#include <algorithm>
#include <filesystem>
#include <random>

#include "client/files/lock.h"
#include "client/files/open_files.h"
#include "client/files/setattr.h"
#include "client/requests/access.h"
#include "client/requests/commit.h"
#include "client/requests/create.h"
#include "client/requests/getattr.h"
#include "client/requests/link.h"
#include "client/requests/lookup.h"
#include "client/requests/readdir.h"
#include "client/requests/readlink.h"
#include "client/requests/remove.h"
#include "client/requests/rename.h"
#include "tests/client/served_mount.h"
#include "tests/pains/crowd.h"
#include "tests/support/full_size.h"

namespace nfsrdma::client::test {
namespace {

using namespace nfs4;

class P16_RetriesAfterDelay : public ServedMount {
 protected:
  template <class T>
  void note(const char* what, const Result<T>& result) {
    log_.push_back(std::string(what) + ": " + (result ? "ok" : result.error().message()));
  }

  /// Every operation that the client knows, below a directory of its own; what became of each.
  std::vector<std::string> do_everything(const std::string& name) {
    log_.clear();
    auto dir = run(make_directory(mount(), caller(), root(), name, 0755));
    note("mkdir", dir);
    if (!dir) return log_;
    work_in(dir->handle);
    return log_;
  }

  void work_in(const FileHandle& dir) {
    SetAttributes initial;
    initial.mode = 0640;
    auto made = run(create(mount(), caller(), dir, "file", CreateMode::guarded, initial,
                           OPEN4_SHARE_ACCESS_BOTH));
    note("create", made);
    if (!made) return;
    note("write", write_text(*made, 0, "content"));
    note("commit", run(commit(mount(), caller(), made->handle, 0, 0)));
    note("read", read_text(*made));
    SetAttributes shorter;
    shorter.size = 3;
    note("truncate", run(setattr(mount(), caller(), made->handle, made->open.state(), shorter)));
    lock_and_unlock(*made);
    note("close", run(mount().opens().close(std::move(made->open))));
    note("link", run(link(mount(), caller(), made->handle, dir, "linked")));
    note("symlink", run(make_symlink(mount(), caller(), dir, "pointer", "file")));
    look_at(dir);
    note("mkdir again", run(make_directory(mount(), caller(), dir, "linked", 0755)));
    note("rename", run(rename(mount(), caller(), dir, "file", dir, "renamed")));
    note("remove", run(remove(mount(), caller(), dir, "linked")));
    note("remove again", run(remove(mount(), caller(), dir, "linked")));
  }

  void lock_and_unlock(Opened& file) {
    WantedLock wanted;
    wanted.owner.id = 1;
    wanted.range = ByteRange::whole_file();
    wanted.exclusive = true;
    note("lock", run(client::lock(mount(), file.open.file(), wanted)));
    wanted.owner.id = 2;
    note("test lock", run(test_lock(mount(), file.open.file(), wanted)));
    note("unlock", run(unlock(mount(), file.open.file(), LockOwner{LockKind::posix, 1},
                              ByteRange::whole_file())));
  }

  void look_at(const FileHandle& dir) {
    auto pointer = run(lookup(mount(), caller(), dir, "pointer"));
    note("lookup", pointer);
    if (pointer) note("readlink", run(readlink(mount(), caller(), pointer->handle)));
    note("readdir", run(readdir(mount(), caller(), dir, 0, {}, 4096, true)));
    note("access", run(access(mount(), caller(), dir, ACCESS4_READ)));
    note("statfs", run(statfs(mount(), caller(), dir)));
  }

  std::vector<std::string> tree(const std::string& name) const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(server_.path(name))) {
      std::string line = entry.path().filename();
      if (entry.is_regular_file()) line += " " + server_.read_file(name + "/" + line);
      names.push_back(line);
    }
    std::ranges::sort(names);
    return names;
  }

  Task<Result<void>> open_and_close(std::size_t rounds) {
    for (std::size_t i = 0; i < rounds; ++i) {
      auto opened =
          co_await open_by_name(mount(), caller(), root(), "file", OPEN4_SHARE_ACCESS_READ);
      CO_TRY(opened);
      auto closed = co_await mount().opens().close(std::move(opened->open));
      CO_TRY(closed);
    }
    co_return Result<void>{};
  }

  std::vector<std::string> log_;
};

/// Those that may be answered NFS4ERR_DELAY (RFC 8881 section 15.2).
constexpr nfs_opnum4 kEveryOperation[] = {
    OP_ACCESS, OP_CLOSE,   OP_COMMIT, OP_CREATE,  OP_GETATTR,  OP_LINK, OP_LOCK,
    OP_LOCKT,  OP_LOCKU,   OP_LOOKUP, OP_OPEN,    OP_PUTFH,    OP_READ, OP_RENAME,
    OP_REMOVE, OP_READDIR, OP_WRITE,  OP_SETATTR, OP_READLINK,
};

TEST_F(P16_RetriesAfterDelay, ResultsAreThoseWithoutDelay) {
  const auto plain = do_everything("plain");
  for (const nfs_opnum4 opnum : kEveryOperation) server_.fail(opnum, NFS4ERR_DELAY);
  const auto delayed = do_everything("delayed");
  EXPECT_EQ(plain, delayed);
  EXPECT_EQ(tree("plain"), tree("delayed"));
  for (const nfs_opnum4 opnum : kEveryOperation) {
    EXPECT_EQ(server_.failures_left(opnum), 0) << opnum << " has not been asked for";
  }
  EXPECT_EQ(counter("session_requests_uncertain"), 0U);
}

// An operation that meets DELAY, then a lost connection, then DELAY: still executed once.
TEST_F(P16_RetriesAfterDelay, DelayAndALostAnswerTogether) {
  server_.fail(OP_CREATE, NFS4ERR_DELAY, 2);
  bool cut = false;
  server_.fate = [&](const Arrival& arrival) {
    const bool strikes = arrival.has(OP_CREATE) && server_.failures_left(OP_CREATE) == 0 && !cut;
    if (!strikes) return Fate::answer;
    cut = true;
    return Fate::disconnect_after;
  };
  auto made = run(make_directory(mount(), caller(), root(), "once", 0755));
  EXPECT_TRUE(made) << made.error().message();
  EXPECT_TRUE(cut);
  EXPECT_EQ(server_.successes_of(OP_CREATE), 1);
}

// Sixty-four users open and close one file, and the server answers in any order: the stateids that
// overtake each other cost no pause.
TEST_F(P16_RetriesAfterDelay, OpensAndClosesThatOvertakeEachOtherDoNotSleep) {
  constexpr int kUsers = 64;
  server_.write_file("file", "content");
  const TimePoint begun = reactor_.now();
  Crowd<void> users;
  const std::size_t rounds = testing::scaled(20'000, 100'000) / kUsers;
  for (int i = 0; i < kUsers; ++i) users.add(open_and_close(rounds));
  reactor_.settle();
  users.expect_success();
  EXPECT_EQ(reactor_.now(), begun) << "an operation has slept";
  EXPECT_EQ(server_.successes_of(OP_OPEN), static_cast<int>(kUsers * rounds));
  EXPECT_GT(counter("open_old_stateids"), 0U) << "none has overtaken another";
  EXPECT_EQ(counter("open_files"), 0U);
}

}  // namespace
}  // namespace nfsrdma::client::test
