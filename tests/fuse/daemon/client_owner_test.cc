// Who keeps a client owner, and when it is of no use.
#include "fuse/daemon/client_owner.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace nfsrdma::fuse {
namespace {

namespace files = std::filesystem;

class ClientOwnerTest : public ::testing::Test {
 protected:
  ClientOwnerTest() { files::create_directories(directory_); }
  ~ClientOwnerTest() override { files::remove_all(directory_); }

  std::unique_ptr<ClientOwner> take(const std::string& fresh, const std::string& key = "server:/") {
    return ClientOwner::take(directory_, key, fresh);
  }
  /// The only file.
  files::path kept() const {
    const files::directory_iterator first(directory_);
    EXPECT_NE(first, files::directory_iterator());
    return first->path();
  }
  std::string text() const {
    std::ostringstream text;
    text << std::ifstream(kept()).rdbuf();
    return text.str();
  }
  void put(const std::string& text) const { std::ofstream(kept()) << text; }

  const files::path directory_ =
      files::temp_directory_path() / ("client-owner-" + std::to_string(::getpid()));
};

TEST_F(ClientOwnerTest, IsTakenOverWhenItsHolderHasGone) {
  {
    const auto first = take("first");
    ASSERT_TRUE(first);
    EXPECT_EQ(first->text(), "first");
  }
  const auto second = take("second");
  ASSERT_TRUE(second);
  EXPECT_EQ(second->text(), "first");
  EXPECT_EQ(files::status(kept()).permissions(), files::perms(0600));
}

TEST_F(ClientOwnerTest, IsOfOneHolderAtATime) {
  const auto first = take("first");
  EXPECT_FALSE(take("second"));
  const auto other = take("other", "server:/other");
  ASSERT_TRUE(other);
  EXPECT_EQ(other->text(), "other");
}

TEST_F(ClientOwnerTest, GoesWhenTheServerHasNothingOfItAnyMore) {
  take("first")->remove();
  EXPECT_TRUE(files::is_empty(directory_));
  EXPECT_EQ(take("second")->text(), "second");
}

TEST_F(ClientOwnerTest, ACopyIsOfNoUse) {
  take("first").reset();
  const files::path file = kept();
  files::copy_file(file, directory_ / "copy");
  files::rename(directory_ / "copy", file);
  EXPECT_EQ(take("second")->text(), "second");
}

TEST_F(ClientOwnerTest, IsOfNoUseAfterAnotherBoot) {
  take("first").reset();
  std::string other = text();
  other.replace(other.find("boot ") + 5, 1, other[other.find("boot ") + 5] == '0' ? "1" : "0");
  put(other);
  EXPECT_EQ(take("second")->text(), "second");
  EXPECT_EQ(take("third")->text(), "second");
}

TEST_F(ClientOwnerTest, WhatIsNotWholeIsOfNoUse) {
  take("first").reset();
  const std::string whole = text();
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{10}, whole.size() - 1}) {
    put(whole.substr(0, bytes));
    EXPECT_EQ(take("second")->text(), "second") << bytes;
    put(whole);
    EXPECT_EQ(take("third")->text(), "first") << bytes;
  }
}

TEST_F(ClientOwnerTest, WithoutADirectoryThereIsNone) {
  EXPECT_FALSE(ClientOwner::take(directory_ / "none", "server:/", "first"));
}

}  // namespace
}  // namespace nfsrdma::fuse
