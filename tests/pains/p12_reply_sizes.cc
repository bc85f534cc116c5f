// P12: replies that are as long as they can be, where only 1024 bytes come inline: each has memory
// to go to. READ_PLUS, whose result has no place of its own, is never asked for.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <set>

#include "client/files/open.h"
#include "client/files/open_files.h"
#include "client/requests/create.h"
#include "client/requests/getattr.h"
#include "client/requests/lookup.h"
#include "client/requests/read.h"
#include "client/requests/readdir.h"
#include "client/requests/readlink.h"
#include "client/requests/write.h"
#include "tests/client/mounted.h"
#include "tests/proto/operations.h"

namespace nfsrdma::client::test {
namespace {

using namespace nfs4;

constexpr std::size_t kInline = 1024;
constexpr std::size_t kMebibyte = 1 << 20;

class P12_ReplySizes : public ::testing::Test {
 protected:
  static rdma::Options small() {
    rdma::Options options;
    options.send_size = options.receive_size = kInline;
    return options;
  }
  void SetUp() override {
    auto started = here_.start();
    ASSERT_TRUE(started) << started.error().message();
    EXPECT_EQ(here_.counter("inline_from_server"), kInline);
  }
  void TearDown() override {
    EXPECT_EQ(here_.counter("reconnects"), 0U);
    EXPECT_EQ(here_.counter("bad_replies"), 0U);
    EXPECT_TRUE(here_.stop());
  }
  Mount& mount() { return here_.mount(); }
  FileHandle root() { return mount().root(); }

  struct Listing {
    std::set<std::string> names;
    std::size_t longest_page = 0;
  };
  Listing list(const FileHandle& directory, bool with_attributes) {
    Listing listing;
    DirectoryPage page;
    std::uint64_t cookie = 0;
    while (!page.eof) {
      auto next = here_.run(readdir(mount(), here_.caller(), directory, cookie, page.verifier,
                                    kMebibyte - 4096, with_attributes));
      EXPECT_TRUE(next) << next.error().message();
      if (!next || (next->entries.empty() && !next->eof)) return listing;
      page = std::move(*next);
      listing.longest_page = std::max(listing.longest_page, page.entries.size());
      for (const Entry& entry : page.entries) listing.names.insert(entry.name);
      if (!page.entries.empty()) cookie = page.entries.back().cookie;
    }
    return listing;
  }

  Mounted here_{{}, {}, Over::rdma, small()};
};

// The longest target that Linux allows.
TEST_F(P12_ReplySizes, ReadlinkOfFourKibibytes) {
  const std::string target(4095, 't');
  ASSERT_EQ(::symlink(target.c_str(), here_.path("link").c_str()), 0);
  auto found = here_.run(lookup(mount(), here_.caller(), root(), "link"));
  ASSERT_TRUE(found);
  auto text = here_.run(readlink(mount(), here_.caller(), found->handle));
  ASSERT_TRUE(text) << text.error().message();
  EXPECT_EQ(*text, target);
}

// Long names in pages as large as memory for a reply is, then with attributes.
TEST_F(P12_ReplySizes, ReaddirAskedForAMebibyte) {
  constexpr int kFiles = 8000;
  const std::string directory = here_.path("d");
  ASSERT_EQ(::mkdir(directory.c_str(), 0755), 0);
  std::set<std::string> expected;
  for (int i = 0; i < kFiles; ++i) {
    const std::string name = std::string(200, 'n') + std::to_string(i);
    std::ofstream(directory + "/" + name);
    expected.insert(name);
  }
  auto dir = here_.run(lookup(mount(), here_.caller(), root(), "d"));
  ASSERT_TRUE(dir);
  const Listing names = list(dir->handle, false);
  EXPECT_EQ(names.names, expected);
  EXPECT_GT(names.longest_page, 900U) << "the responder makes them no longer";
  const Listing attributes = list(dir->handle, true);
  EXPECT_EQ(attributes.names, expected);
  EXPECT_GT(attributes.longest_page, 500U);
}

// Names and requests as long as they can be: calls that do not come inline, either.
TEST_F(P12_ReplySizes, EverythingElse) {
  const std::string name(255, 'x');
  SetAttributes initial;
  initial.mode = 0644;
  auto file = here_.run(create(mount(), here_.caller(), root(), name, CreateMode::exclusive,
                               initial, OPEN4_SHARE_ACCESS_BOTH));
  ASSERT_TRUE(file) << file.error().message();
  Buffer data = here_.data().acquire();
  for (const std::size_t length : {std::size_t{1}, kInline, kInline + 1, kMebibyte}) {
    auto written = here_.run(write(mount(), here_.caller(), file->handle, file->open.state(), 0,
                                   data.first(length), UNSTABLE4));
    ASSERT_TRUE(written) << written.error().message();
    auto got = here_.run(
        read(mount(), here_.caller(), file->handle, file->open.state(), 0, data.first(length)));
    ASSERT_TRUE(got) << got.error().message();
    EXPECT_GT(got->data.size(), 0U);
  }
  const std::string target(4095, 't');
  auto linked = here_.run(make_symlink(mount(), here_.caller(), root(), "l", target));
  EXPECT_TRUE(linked) << linked.error().message();
  EXPECT_TRUE(here_.run(getattr(mount(), here_.caller(), root())));
  EXPECT_TRUE(here_.run(statfs(mount(), here_.caller(), root())));
  EXPECT_TRUE(here_.run(mount().opens().close(std::move(file->open))));
}

// An operation of version 4.2; this client has none of them.
TEST(P12_ReplySizesOfReadPlus, IsNotEvenKnown) {
  constexpr std::uint32_t kReadPlus = 68;
  EXPECT_FALSE(Operations::dispatch(static_cast<nfs_opnum4>(kReadPlus), [](auto) {}));
}

}  // namespace
}  // namespace nfsrdma::client::test
