// The client against a real responder: every operation once over iWARP, and what a lost connection
// does to it.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <fstream>

#include "client/files/open.h"
#include "client/files/open_files.h"
#include "client/files/setattr.h"
#include "client/proto/attributes.h"
#include "client/requests/access.h"
#include "client/requests/commit.h"
#include "client/requests/create.h"
#include "client/requests/errno.h"
#include "client/requests/getattr.h"
#include "client/requests/link.h"
#include "client/requests/lookup.h"
#include "client/requests/read.h"
#include "client/requests/readdir.h"
#include "client/requests/readlink.h"
#include "client/requests/remove.h"
#include "client/requests/rename.h"
#include "client/requests/write.h"
#include "tests/client/mounted.h"
#include "tests/proto/operations.h"

namespace nfsrdma::client::test {
namespace {

using namespace nfs4;

class AgainstResponder : public ::testing::Test {
 protected:
  void SetUp() override {
    auto started = here_.start();
    ASSERT_TRUE(started) << started.error().message();
  }
  void TearDown() override {
    auto stopped = here_.stop();
    EXPECT_TRUE(stopped) << stopped.error().message();
  }

  Mount& mount() { return here_.mount(); }
  Credential caller() { return here_.caller(); }
  FileHandle root() { return mount().root(); }

  Opened make_file(const std::string& name, std::uint32_t access = OPEN4_SHARE_ACCESS_BOTH) {
    SetAttributes initial;
    initial.mode = 0644;
    auto opened =
        here_.run(create(mount(), caller(), root(), name, CreateMode::unchecked, initial, access));
    EXPECT_TRUE(opened) << opened.error().message();
    return std::move(*opened);
  }
  std::uint32_t put(const Opened& file, std::uint64_t offset, std::span<const std::byte> data) {
    auto written = here_.run(
        write(mount(), caller(), file.handle, file.open.state(), offset, data, UNSTABLE4));
    EXPECT_TRUE(written) << written.error().message();
    return written ? written->count : 0;
  }

  Mounted here_;
};

TEST_F(AgainstResponder, FindsTheRoot) {
  EXPECT_EQ(mount().root_attributes().type, NF4DIR);
  EXPECT_EQ(mount().rsize(), 1U << 20);
  EXPECT_EQ(mount().wsize(), 1U << 20);
  struct stat expected {};
  ASSERT_EQ(stat(here_.path("").c_str(), &expected), 0);
  EXPECT_EQ(mount().root_attributes().fileid, expected.st_ino);
}

TEST_F(AgainstResponder, LookupAndGetattrAgreeWithTheDisk) {
  std::ofstream(here_.path("file")) << "hello";
  auto found = here_.run(lookup(mount(), caller(), root(), "file"));
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_EQ(found->attributes.size, 5U);
  EXPECT_EQ(found->attributes.type, NF4REG);
  auto attributes = here_.run(getattr(mount(), caller(), found->handle));
  ASSERT_TRUE(attributes);
  EXPECT_EQ(attributes->fileid, found->attributes.fileid);
  auto missing = here_.run(lookup(mount(), caller(), root(), "missing"));
  ASSERT_FALSE(missing);
  EXPECT_EQ(to_errno(missing.error()), ENOENT);
  EXPECT_EQ(missing.error().message(), "LOOKUP: NFS4ERR_NOENT (op 3 of 5)");
}

TEST_F(AgainstResponder, WritesAndReadsAMebibyte) {
  Opened file = make_file("big");
  Buffer out = here_.data().acquire();
  for (std::size_t i = 0; i < out.size(); ++i) out.data()[i] = static_cast<std::byte>(i * 31 >> 3);
  ASSERT_EQ(put(file, 0, out.bytes()), out.size());
  auto committed = here_.run(commit(mount(), caller(), file.handle, 0, 0));
  ASSERT_TRUE(committed);
  Buffer in = here_.data().acquire();
  auto data = here_.run(read(mount(), caller(), file.handle, file.open.state(), 0, in.bytes()));
  ASSERT_TRUE(data) << data.error().message();
  EXPECT_TRUE(data->placed);
  EXPECT_TRUE(data->eof);
  ASSERT_EQ(data->data.size(), out.size());
  EXPECT_TRUE(std::ranges::equal(data->data, out.bytes()));
  EXPECT_EQ(data->data.data(), in.data());
  auto closed = here_.run(mount().opens().close(std::move(file.open)));
  EXPECT_TRUE(closed) << closed.error().message();
  EXPECT_EQ(here_.counter("open_files"), 0U);
}

TEST_F(AgainstResponder, WriteTellsTheAttributesAfterwards) {
  Opened file = make_file("f");
  Buffer out = here_.data().acquire();
  auto written = here_.run(
      write(mount(), caller(), file.handle, file.open.state(), 10, out.first(5), FILE_SYNC4));
  ASSERT_TRUE(written);
  EXPECT_EQ(written->count, 5U);
  EXPECT_EQ(written->committed, FILE_SYNC4);
  ASSERT_TRUE(written->attributes);
  EXPECT_EQ(written->attributes->size, 15U);
}

TEST_F(AgainstResponder, MakesAndRemovesEveryKindOfObject) {
  auto dir = here_.run(make_directory(mount(), caller(), root(), "dir", 0750));
  ASSERT_TRUE(dir) << dir.error().message();
  EXPECT_EQ(dir->attributes.mode & 07777, 0750U);
  auto link_made = here_.run(make_symlink(mount(), caller(), root(), "sym", "dir/target"));
  ASSERT_TRUE(link_made) << link_made.error().message();
  auto text = here_.run(readlink(mount(), caller(), link_made->handle));
  ASSERT_TRUE(text) << text.error().message();
  EXPECT_EQ(*text, "dir/target");
  auto fifo = here_.run(make_node(mount(), caller(), root(), "fifo", NF4FIFO, 0600, {}));
  ASSERT_TRUE(fifo) << fifo.error().message();
  EXPECT_EQ(fifo->attributes.type, NF4FIFO);
  auto again = here_.run(make_directory(mount(), caller(), root(), "dir", 0750));
  ASSERT_FALSE(again);
  EXPECT_EQ(to_errno(again.error()), EEXIST);
  for (const char* name : {"dir", "sym", "fifo"}) {
    auto removed = here_.run(remove(mount(), caller(), root(), name));
    EXPECT_TRUE(removed) << removed.error().message();
  }
}

TEST_F(AgainstResponder, RenamesAndLinks) {
  Opened file = make_file("a");
  auto linked = here_.run(link(mount(), caller(), file.handle, root(), "b"));
  ASSERT_TRUE(linked) << linked.error().message();
  EXPECT_EQ(linked->attributes.numlinks, 2U);
  auto renamed = here_.run(rename(mount(), caller(), root(), "b", root(), "c"));
  ASSERT_TRUE(renamed) << renamed.error().message();
  auto found = here_.run(lookup(mount(), caller(), root(), "c"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->attributes.fileid, file.attributes.fileid);
}

TEST_F(AgainstResponder, SetsAttributes) {
  Opened file = make_file("f");
  SetAttributes change;
  change.size = 1234;
  change.mode = 0600;
  change.modify_time = SetTime{false, {1'000'000, 5}};
  auto after = here_.run(setattr(mount(), caller(), file.handle, file.open.state(), change));
  ASSERT_TRUE(after) << after.error().message();
  EXPECT_EQ(after->change_before, file.attributes.change);
  EXPECT_NE(after->attributes.change, file.attributes.change);
  EXPECT_EQ(after->attributes.size, 1234U);
  EXPECT_EQ(after->attributes.mode & 07777, 0600U);
  EXPECT_EQ(after->attributes.time_modify, (nfstime4{1'000'000, 5}));
}

TEST_F(AgainstResponder, ReadsALongDirectoryPageByPage) {
  constexpr int kFiles = 1500;
  for (int i = 0; i < kFiles; ++i) std::ofstream(here_.path("name-" + std::to_string(i)));
  std::vector<std::string> names;
  DirectoryPage page;
  std::uint64_t cookie = 0;
  while (!page.eof) {
    auto next =
        here_.run(readdir(mount(), caller(), root(), cookie, page.verifier, 64 * 1024, true));
    ASSERT_TRUE(next) << next.error().message();
    page = std::move(*next);
    ASSERT_TRUE(page.eof || !page.entries.empty());
    for (const Entry& entry : page.entries) {
      EXPECT_TRUE(entry.has_attributes) << entry.name;
      names.push_back(entry.name);
      cookie = entry.cookie;
    }
  }
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::unique(names).size(), 0U);
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kFiles));
}

TEST_F(AgainstResponder, ExclusiveCreateSetsWhatWasAsked) {
  SetAttributes initial;
  initial.mode = 0640;
  auto opened = here_.run(create(mount(), caller(), root(), "x", CreateMode::exclusive, initial,
                                 OPEN4_SHARE_ACCESS_BOTH));
  ASSERT_TRUE(opened) << opened.error().message();
  EXPECT_EQ(opened->attributes.mode & 07777, 0640U);
  auto again = here_.run(create(mount(), caller(), root(), "x", CreateMode::exclusive, initial,
                                OPEN4_SHARE_ACCESS_BOTH));
  ASSERT_FALSE(again);
  EXPECT_EQ(to_errno(again.error()), EEXIST);
  auto guarded = here_.run(create(mount(), caller(), root(), "x", CreateMode::guarded, initial,
                                  OPEN4_SHARE_ACCESS_BOTH));
  ASSERT_FALSE(guarded);
  EXPECT_EQ(to_errno(guarded.error()), EEXIST);
}

TEST_F(AgainstResponder, OpensOfOneFileShareAStateid) {
  Opened both = make_file("f");
  auto reader = here_.run(open(mount(), caller(), both.handle, OPEN4_SHARE_ACCESS_READ));
  ASSERT_TRUE(reader) << reader.error().message();
  auto named = here_.run(open_by_name(mount(), caller(), root(), "f", OPEN4_SHARE_ACCESS_READ));
  ASSERT_TRUE(named) << named.error().message();
  EXPECT_EQ(&*both.open, &*reader->open);
  EXPECT_EQ(&*both.open, &*named->open);
  EXPECT_TRUE(here_.run(mount().opens().close(std::move(both.open))));
  EXPECT_EQ(here_.counter("open_downgrades"), 1U);
  Buffer out = here_.data().acquire();
  auto denied = here_.run(
      write(mount(), caller(), reader->handle, reader->open.state(), 0, out.first(1), UNSTABLE4));
  ASSERT_FALSE(denied);
  EXPECT_TRUE(denied.error().is(Layer::nfs, NFS4ERR_OPENMODE));
  EXPECT_TRUE(here_.run(mount().opens().close(std::move(reader->open))));
  EXPECT_EQ(here_.counter("closes"), 0U);
  EXPECT_TRUE(here_.run(mount().opens().close(std::move(named->open))));
  EXPECT_EQ(here_.counter("closes"), 1U);
}

TEST_F(AgainstResponder, AccessAndStatfsAnswer) {
  auto granted = here_.run(access(mount(), caller(), root(), ACCESS4_READ | ACCESS4_LOOKUP));
  ASSERT_TRUE(granted);
  EXPECT_EQ(*granted, ACCESS4_READ | ACCESS4_LOOKUP);
  auto status = here_.run(statfs(mount(), caller(), root()));
  ASSERT_TRUE(status);
  EXPECT_GT(status->space_total, 0U);
  EXPECT_GE(status->space_total, status->space_free);
}

// V1-4.5.5-1, V1-4.5.5-2, E-8881-14: the link is cut with a request in flight; it is executed once.
TEST_F(AgainstResponder, ResumesAfterALostConnection) {
  Opened file = make_file("f");
  Buffer out = here_.data().acquire();
  std::memset(out.data(), 'x', out.size());
  ASSERT_EQ(here_.server().command("fault disconnect=after:op=WRITE:times=1").substr(0, 2), "ok");
  EXPECT_EQ(put(file, 0, out.bytes()), out.size());
  EXPECT_EQ(here_.counter("reconnects"), 1U);
  EXPECT_EQ(here_.counter("session_requests_resent"), 1U);
  EXPECT_EQ(here_.counter("session_losses"), 0U);
  auto removed_once = here_.run(make_directory(mount(), caller(), root(), "d", 0755));
  EXPECT_TRUE(removed_once);
}

// The reply of a change is lost; the server's replay cache answers, the change is made once.
TEST_F(AgainstResponder, AChangeIsMadeOnceWhenItsReplyIsLost) {
  ASSERT_EQ(here_.server().command("fault disconnect=after:op=CREATE:times=1").substr(0, 2), "ok");
  auto made = here_.run(make_directory(mount(), caller(), root(), "d", 0755));
  EXPECT_TRUE(made) << made.error().message();
  EXPECT_EQ(here_.counter("session_requests_resent"), 1U);
  auto again = here_.run(make_directory(mount(), caller(), root(), "d", 0755));
  ASSERT_FALSE(again);
  EXPECT_EQ(to_errno(again.error()), EEXIST);
}

Task<void> write_blocks(Mount* mount, Credential caller, const Opened* file, std::uint64_t first,
                        std::span<const std::byte> data, int* failures, int* running) {
  constexpr int kBlocks = 64;
  for (int i = 0; i < kBlocks; ++i) {
    const std::uint64_t offset = (first * kBlocks + static_cast<std::uint64_t>(i)) * data.size();
    auto written =
        co_await write(*mount, caller, file->handle, file->open.state(), offset, data, UNSTABLE4);
    if (!written || written->count != data.size()) ++*failures;
  }
  --*running;
}

TEST_F(AgainstResponder, WritersSurviveAServerThatKeepsHangingUp) {
  constexpr int kWriters = 8;
  constexpr std::size_t kBlock = 16 * 1024;
  Opened file = make_file("f");
  Buffer data = here_.data().acquire();
  std::memset(data.data(), 'x', kBlock);
  ASSERT_EQ(here_.server().command("fault disconnect=after:op=WRITE:every=37").substr(0, 2), "ok");
  int failures = 0;
  int running = kWriters;
  for (int i = 0; i < kWriters; ++i) {
    spawn(write_blocks(&mount(), caller(), &file, static_cast<std::uint64_t>(i), data.first(kBlock),
                       &failures, &running));
  }
  while (running > 0) here_.reactor().run_once(std::chrono::milliseconds(100));
  EXPECT_EQ(failures, 0);
  EXPECT_GT(here_.counter("reconnects"), 3U);
  EXPECT_EQ(here_.server().command("clear"), "ok");
  auto attributes = here_.run(getattr(mount(), caller(), file.handle));
  ASSERT_TRUE(attributes);
  EXPECT_EQ(attributes->size, kWriters * 64 * kBlock);
}

TEST_F(AgainstResponder, ARestartedServerGivesTheOpenBack) {
  Opened file = make_file("f");
  ASSERT_EQ(here_.server().command("restart"), "ok");
  Buffer data = here_.data().acquire();
  auto written = here_.run(
      write(mount(), caller(), file.handle, file.open.state(), 0, data.first(1), UNSTABLE4));
  ASSERT_TRUE(written) << written.error().message();
  EXPECT_FALSE(file.open->lost());
  EXPECT_EQ(here_.counter("opens_reopened"), 1U) << "the server keeps no grace period";
}

TEST_F(AgainstResponder, ADelayedOperationIsRepeated) {
  ASSERT_EQ(here_.server().command("fault nfsstat=NFS4ERR_DELAY:op=LOOKUP:times=2").substr(0, 2),
            "ok");
  make_file("f");
  auto found = here_.run(lookup(mount(), caller(), root(), "f"));
  EXPECT_TRUE(found);
  EXPECT_EQ(here_.counter("session_requests_delayed"), 2U);
}

TEST(MountOfResponder, AMissingExportIsNamed) {
  MountConfig config;
  config.export_path = "/no/such";
  Mounted here({}, config);
  auto started = here.start();
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().message(),
            "LOOKUP export: NFS4ERR_NOENT ('no' of /no/such: op 3 of 5)");
}

TEST(MountOfResponder, AnExportBelowTheRootIsFound) {
  MountConfig config;
  config.export_path = "/a//b/";
  Mounted here({}, config);
  ASSERT_EQ(mkdir(here.path("a").c_str(), 0755), 0);
  ASSERT_EQ(mkdir(here.path("a/b").c_str(), 0755), 0);
  ASSERT_TRUE(here.start());
  struct stat expected {};
  ASSERT_EQ(stat(here.path("a/b").c_str(), &expected), 0);
  EXPECT_EQ(here.mount().root_attributes().fileid, expected.st_ino);
  EXPECT_TRUE(here.stop());
}

TEST(MountOfResponder, ASilentServerFailsTheMountInTime) {
  MountConfig config;
  config.start_timeout = std::chrono::milliseconds(200);
  Mounted here({}, config);
  ASSERT_EQ(here.server().command("stop"), "ok");
  auto started = here.start();
  ASSERT_FALSE(started);
  EXPECT_EQ(to_errno(started.error()), ETIMEDOUT);
  EXPECT_STREQ(started.error().step, "EXCHANGE_ID");
}

}  // namespace
}  // namespace nfsrdma::client::test
