// READDIR: names that no directory can have (RFC 8881 section 18.23).
#include "client/requests/readdir.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>

#include "tests/client/fake_mount.h"
#include "transport/base/log.h"
#include "transport/base/log_limit.h"

namespace nfsrdma::client::test {
namespace {

using namespace nfs4;

struct ServedPage {
  std::vector<entry4> entries;
  bool eof = false;
};

class ReadDirTest : public FakeMount {
 protected:
  ReadDirTest() {
    server_.on<READDIR4args, READDIR4res>([this](const READDIR4args& args, READDIR4res& result) {
      asked_.push_back(args.cookie);
      verifiers_right_ &= args.cookieverf == (args.cookie == 0 ? verifier4{} : kVerifier);
      result.resok4.cookieverf = kVerifier;
      const ServedPage page = endless_ ? page_of({{args.cookie + 3, "/"}}) : pages_[args.cookie];
      result.resok4.reply.entries = page.entries;
      result.resok4.reply.eof = page.eof;
    });
  }
  static ServedPage page_of(std::initializer_list<std::pair<std::uint64_t, const char*>> names,
                            bool eof = false) {
    ServedPage page;
    for (const auto& [cookie, name] : names) {
      entry4 entry;
      entry.cookie = cookie;
      entry.name = name;
      page.entries.push_back(entry);
    }
    page.eof = eof;
    return page;
  }
  Result<DirectoryPage> read_from(std::uint64_t cookie) {
    return run(readdir(mount(), Credential{}, handle(1), cookie, verifier4{},
                       std::uint32_t{1} << 16, false));
  }

  static constexpr verifier4 kVerifier{std::byte{7}};
  std::map<std::uint64_t, ServedPage> pages_;
  std::vector<std::uint64_t> asked_;
  bool verifiers_right_ = true;
  bool endless_ = false;
};

TEST_F(ReadDirTest, ImpossibleNamesAreLeftOut) {
  pages_[0] = page_of({{10, "a"}, {11, "a/b"}, {12, ".."}, {13, "b"}, {14, ""}});
  start();
  auto page = read_from(0);
  ASSERT_TRUE(page) << page.error().message();
  ASSERT_EQ(page->entries.size(), 2u);
  EXPECT_EQ(page->entries[0].name, "a");
  EXPECT_EQ(page->entries[1].name, "b");
  EXPECT_EQ(page->left_out, 3u);
  EXPECT_EQ(page->last_cookie, 14u);
  EXPECT_EQ(asked_.size(), 1u);
}

// FUSE takes no longer one, nor the other names beside it.
TEST_F(ReadDirTest, ANameThatIsTooLongForTheKernelIsLeftOut) {
  const std::string longest(1024, 'n');
  const std::string longer = longest + 'n';
  pages_[0] = page_of({{10, "a"}, {11, longer.c_str()}, {12, longest.c_str()}}, true);
  start();
  auto page = read_from(0);
  ASSERT_TRUE(page) << page.error().message();
  ASSERT_EQ(page->entries.size(), 2u);
  EXPECT_EQ(page->entries[1].name, longest);
  EXPECT_EQ(page->left_out, 1u);
}

// RFC 8881 section 18.23.3: rdattr_error says that the other attributes are not the entry's.
TEST_F(ReadDirTest, AnEntryWhoseAttributesFailedHasNone) {
  pages_[0] = page_of({{10, "good"}, {11, "failed"}}, true);
  std::array<std::array<std::byte, 256>, 2> memory;
  for (std::size_t i = 0; i < memory.size(); ++i) {
    Attributes attributes;
    attributes.type = NF4REG;
    attributes.fileid = 7 + i;
    attributes.filehandle = handle(static_cast<std::uint8_t>(2 + i));
    attributes.rdattr_error = i == 0 ? NFS4_OK : NFS4ERR_ACCESS;
    attributes.present = {FATTR4_TYPE, FATTR4_RDATTR_ERROR, FATTR4_FILEHANDLE, FATTR4_FILEID};
    xdr::Encoder out(memory[i]);
    ASSERT_TRUE(encode_attributes(out, attributes.present, attributes));
    xdr::Decoder in(out.encoded());
    decode(in, pages_[0].entries[i].attrs);
  }
  start();
  auto page = run(readdir(mount(), Credential{}, handle(1), 0, verifier4{}, 1 << 16, true));
  ASSERT_TRUE(page) << page.error().message();
  ASSERT_EQ(page->entries.size(), 2u);
  EXPECT_TRUE(page->entries[0].has_attributes);
  EXPECT_FALSE(page->entries[1].has_attributes);
}

TEST_F(ReadDirTest, APageOfImpossibleNamesIsPassedOver) {
  pages_[0] = page_of({{10, "/"}, {11, "."}});
  pages_[11] = page_of({{12, ".."}});
  pages_[12] = page_of({{13, "real"}}, true);
  start();
  auto page = read_from(0);
  ASSERT_TRUE(page) << page.error().message();
  ASSERT_EQ(page->entries.size(), 1u);
  EXPECT_EQ(page->entries[0].name, "real");
  EXPECT_TRUE(page->eof);
  EXPECT_EQ(asked_, (std::vector<std::uint64_t>{0, 11, 12}));
  EXPECT_TRUE(verifiers_right_);
}

TEST_F(ReadDirTest, PagesOfImpossibleNamesEndSomewhere) {
  endless_ = true;
  start();
  auto page = read_from(0);
  ASSERT_TRUE(page);
  EXPECT_TRUE(page->entries.empty());
  EXPECT_FALSE(page->eof);
  EXPECT_EQ(asked_.size(), 64u);
}

TEST_F(ReadDirTest, ImpossibleNamesAreOneLineForAPageAndAFewForAll) {
  ServedPage bad;
  for (std::uint64_t i = 0; i < 700; ++i) {
    bad.entries.emplace_back();
    bad.entries.back().cookie = 3 + i;
    bad.entries.back().name = "a/b";
  }
  bad.eof = true;
  pages_[0] = bad;
  start();
  log::set_level(log::Level::warning);
  testing::internal::CaptureStderr();
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(read_from(0));
  const std::string written = testing::internal::GetCapturedStderr();
  log::set_level(log::Level::info);
  EXPECT_EQ(std::count(written.begin(), written.end(), '\n'), log::Limit::kLines);
  EXPECT_NE(written.find("700 impossible names"), std::string::npos);
}

}  // namespace
}  // namespace nfsrdma::client::test
