// The client against a real responder over TCP: data, and what lost connections and odd replies do.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>

#include "client/files/open.h"
#include "client/files/open_files.h"
#include "client/proto/attributes.h"
#include "client/requests/create.h"
#include "client/requests/errno.h"
#include "client/requests/getattr.h"
#include "client/requests/read.h"
#include "client/requests/readdir.h"
#include "client/requests/readlink.h"
#include "client/requests/write.h"
#include "client/session/session.h"
#include "tests/client/mounted.h"
#include "tests/proto/operations.h"

namespace nfsrdma::client::test {
namespace {

using namespace nfs4;

class OverTcp : public ::testing::Test {
 protected:
  void SetUp() override {
    auto started = here_.start();
    ASSERT_TRUE(started) << started.error().message();
  }
  void TearDown() override {
    here_.server().command("clear");
    auto stopped = here_.stop();
    EXPECT_TRUE(stopped) << stopped.error().message();
  }

  Mount& mount() { return here_.mount(); }
  Credential caller() { return here_.caller(); }
  FileHandle root() { return mount().root(); }
  Opened make_file(const std::string& name) {
    SetAttributes initial;
    initial.mode = 0644;
    auto opened = here_.run(create(mount(), caller(), root(), name, CreateMode::unchecked, initial,
                                   OPEN4_SHARE_ACCESS_BOTH));
    EXPECT_TRUE(opened) << opened.error().message();
    return std::move(*opened);
  }
  Buffer filled(unsigned seed) {
    Buffer buffer = here_.data().acquire();
    for (std::size_t i = 0; i < buffer.size(); ++i) {
      buffer.data()[i] = static_cast<std::byte>((i + seed) * 31 >> 3);
    }
    return buffer;
  }
  std::string fault(const std::string& spec) { return here_.server().command("fault " + spec); }

  Mounted here_{{}, {}, Over::tcp};
};

TEST_F(OverTcp, WritesAndReadsAMebibyteWithoutACopy) {
  Opened file = make_file("big");
  Buffer out = filled(1);
  auto written = here_.run(
      write(mount(), caller(), file.handle, file.open.state(), 0, out.bytes(), UNSTABLE4));
  ASSERT_TRUE(written);
  ASSERT_EQ(written->count, out.size());
  Buffer in = here_.data().acquire();
  auto data = here_.run(read(mount(), caller(), file.handle, file.open.state(), 0, in.bytes()));
  ASSERT_TRUE(data) << data.error().message();
  EXPECT_TRUE(data->placed);
  EXPECT_EQ(data->data.data(), in.data());
  EXPECT_TRUE(std::ranges::equal(data->data, out.bytes()));
  EXPECT_EQ(here_.counter("payload_copies"), 0U);
  EXPECT_EQ(here_.counter("reply_bytes_payload"), out.size());
  EXPECT_TRUE(here_.run(mount().opens().close(std::move(file.open))));
}

TEST_F(OverTcp, ShortReadsAndTheEnd) {
  std::ofstream(here_.path("short")) << "hello";
  Opened file = make_file("short");
  Buffer in = here_.data().acquire();
  for (std::uint64_t offset : {0U, 2U, 5U, 100U}) {
    auto data =
        here_.run(read(mount(), caller(), file.handle, file.open.state(), offset, in.first(1000)));
    ASSERT_TRUE(data) << data.error().message();
    EXPECT_TRUE(data->eof);
    EXPECT_EQ(data->data.size(), offset > 5 ? 0 : 5 - offset);
  }
  EXPECT_TRUE(here_.run(mount().opens().close(std::move(file.open))));
}

TEST_F(OverTcp, RepliesInManyFragments) {
  Opened file = make_file("f");
  Buffer out = filled(2);
  ASSERT_TRUE(here_.run(
      write(mount(), caller(), file.handle, file.open.state(), 0, out.first(100001), UNSTABLE4)));
  for (const char* bytes : {"1", "7", "4096"}) {
    ASSERT_EQ(fault(std::string("fragments=") + bytes).substr(0, 2), "ok");
    Buffer in = here_.data().acquire();
    auto data =
        here_.run(read(mount(), caller(), file.handle, file.open.state(), 0, in.first(100001)));
    ASSERT_TRUE(data) << data.error().message();
    EXPECT_TRUE(std::ranges::equal(data->data, out.first(100001)));
    EXPECT_TRUE(here_.run(getattr(mount(), caller(), root())));
    here_.server().command("clear");
  }
  EXPECT_EQ(here_.counter("payload_copies"), 0U);
  EXPECT_EQ(here_.counter("reconnects"), 0U);
  EXPECT_TRUE(here_.run(mount().opens().close(std::move(file.open))));
}

TEST_F(OverTcp, LinksAndDirectories) {
  const std::string target(1000, 't');
  auto made = here_.run(make_symlink(mount(), caller(), root(), "link", target));
  ASSERT_TRUE(made) << made.error().message();
  auto text = here_.run(readlink(mount(), caller(), made->handle));
  ASSERT_TRUE(text) << text.error().message();
  EXPECT_EQ(*text, target);
  constexpr int kEntries = 2000;
  for (int i = 0; i < kEntries; ++i) std::ofstream(here_.path("entry" + std::to_string(i)));
  auto page = here_.run(readdir(mount(), caller(), root(), 0, {}, 1 << 19, true));
  ASSERT_TRUE(page) << page.error().message();
  EXPECT_GT(page->entries.size(), 1000U);
  EXPECT_GT(here_.counter("large_replies"), 0U);
}

// The session lives on with another connection, and what was executed is not executed again.
TEST_F(OverTcp, TheReplyIsLost) {
  const sessionid4 session = mount().session().id();
  ASSERT_EQ(fault("disconnect=after:op=CREATE:times=1"), "ok 1");
  auto made = here_.run(make_directory(mount(), caller(), root(), "dir", 0755));
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(here_.server().counter("fault_1_disconnect"), 1U);
  EXPECT_EQ(here_.server().counter("connections"), 2U);
  EXPECT_EQ(mount().session().id(), session);
  EXPECT_EQ(here_.counter("session_losses"), 0U);
  EXPECT_EQ(here_.counter("session_requests_resent"), 1U);
}

TEST_F(OverTcp, TheConnectionIsLostInTheMiddleOfData) {
  Opened file = make_file("f");
  Buffer out = filled(3);
  ASSERT_EQ(fault("disconnect=before:op=WRITE:times=1"), "ok 1");
  auto written = here_.run(
      write(mount(), caller(), file.handle, file.open.state(), 0, out.bytes(), UNSTABLE4));
  ASSERT_TRUE(written) << written.error().message();
  ASSERT_EQ(fault("malformed=truncated:op=READ:times=1"), "ok 2");
  Buffer in = here_.data().acquire();
  auto data = here_.run(read(mount(), caller(), file.handle, file.open.state(), 0, in.bytes()));
  ASSERT_TRUE(data) << data.error().message();
  EXPECT_TRUE(std::ranges::equal(data->data, out.bytes()));
  EXPECT_EQ(here_.server().counter("connections"), 3U);
  EXPECT_EQ(here_.counter("session_losses"), 0U);
  EXPECT_TRUE(here_.run(mount().opens().close(std::move(file.open))));
}

// A record that breaks the rules twice fails its call, not the mount.
TEST_F(OverTcp, MalformedTwice) {
  ASSERT_EQ(fault("malformed=oversize:op=GETATTR:times=2"), "ok 1");
  auto attributes = here_.run(getattr(mount(), caller(), root()));
  ASSERT_FALSE(attributes);
  EXPECT_EQ(to_errno(attributes.error()), EIO);
  EXPECT_TRUE(here_.run(getattr(mount(), caller(), root())));
  EXPECT_EQ(here_.counter("bad_records"), 2U);
  EXPECT_EQ(here_.counter("session_losses"), 0U);
}

}  // namespace
}  // namespace nfsrdma::client::test
