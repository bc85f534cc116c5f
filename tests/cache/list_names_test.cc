// Listings of a server that leads nowhere: the reader is told, and asks no more.
#include "cache/name/list_names.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <map>
#include <memory>
#include <vector>

#include "cache/file/directory.h"
#include "client/requests/errno.h"
#include "tests/cache/known_inodes.h"
#include "tests/client/fake_mount.h"

namespace nfsrdma::cache::test {
namespace {

struct ServedPage {
  std::vector<std::uint64_t> cookies;
  bool eof = false;
};

class ListNames : public client::test::FakeMount {
 protected:
  void SetUp() override {
    server_.on<nfs4::READDIR4args, nfs4::READDIR4res>(
        [this](const nfs4::READDIR4args& args, nfs4::READDIR4res& result) {
          const ServedPage& page = pages_[args.cookie];
          for (const std::uint64_t cookie : page.cookies) {
            nfs4::entry4 entry;
            entry.cookie = cookie;
            names_.push_back("n" + std::to_string(cookie));
            entry.name = names_.back();
            result.resok4.reply.entries.push_back(entry);
          }
          result.resok4.reply.eof = page.eof;
        });
    start();
    attributes_ =
        std::make_unique<AttributeCache>(mount(), AttributePolicy{}, inodes_, unobserved_);
    directory_ = new Directory(reactor_, InodeRef(&inodes_.make_root(handle(1))));
  }
  void TearDown() override {
    directory_.reset();
    attributes_.reset();
    FakeMount::TearDown();
  }
  /// The errno value, 0: none.
  int list(std::uint64_t cookie) {
    auto listed = run(list_from(*attributes_, client::Credential{}, directory_, cookie));
    return listed ? 0 : client::to_errno(listed.error());
  }

  std::map<std::uint64_t, ServedPage> pages_;
  std::list<std::string> names_;
  KnownInodes inodes_;
  Unobserved unobserved_;
  std::unique_ptr<AttributeCache> attributes_;
  DirectoryRef directory_;
};

TEST_F(ListNames, APageWithoutAnEntryIsNoEnd) {
  pages_[0] = {{10, 11}, false};
  pages_[11] = {{}, false};
  EXPECT_EQ(list(0), 0);
  EXPECT_EQ(list(11), EIO);
}

TEST_F(ListNames, CookiesThatLeadBackAreAnError) {
  pages_[0] = {{10, 11}, false};
  pages_[11] = {{10, 11}, false};
  EXPECT_EQ(list(0), 0);
  EXPECT_EQ(list(11), ELOOP);
}

}  // namespace
}  // namespace nfsrdma::cache::test
