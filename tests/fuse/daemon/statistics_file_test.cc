// stats= writes where it was told to and nowhere else, for the user only, and never blocks.
#include "fuse/daemon/statistics_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace nfsrdma::fuse {
namespace {

class StatisticsFileTest : public ::testing::Test {
 protected:
  StatisticsFileTest() {
    char directory[] = "/tmp/nfsrdma-stats-XXXXXX";
    directory_ = ::mkdtemp(directory);
    file_ = directory_ + "/file";
  }
  ~StatisticsFileTest() override { std::filesystem::remove_all(directory_); }

  static void put(const std::string& path, const char* text) { std::ofstream(path) << text; }
  static std::string text_of(const std::string& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static bool write(StatisticsFile& file, std::string text) {
    file.write(std::move(text));
    return file.wait(std::chrono::seconds(30));
  }

  std::string directory_;
  std::string file_;
};

TEST_F(StatisticsFileTest, IsForTheUserAlone) {
  auto file = StatisticsFile::open(file_);
  ASSERT_TRUE(file.has_value()) << file.error().message();
  EXPECT_FALSE(std::filesystem::exists(file_)) << "nothing is written before its time";
  ASSERT_TRUE(write(*file, "one\n"));
  ASSERT_TRUE(write(*file, "two\n"));
  EXPECT_EQ(text_of(file_), "two\n");
  struct stat status {};
  ASSERT_EQ(::stat(file_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777u, 0600u);
  EXPECT_FALSE(std::filesystem::exists(file_ + ".new"));
}

TEST_F(StatisticsFileTest, FollowsNoSymbolicLink) {
  const std::string victim = directory_ + "/victim";
  put(victim, "precious");
  ASSERT_EQ(::symlink(victim.c_str(), (file_ + ".new").c_str()), 0);
  ASSERT_EQ(::symlink(victim.c_str(), file_.c_str()), 0);
  auto file = StatisticsFile::open(file_);
  ASSERT_TRUE(file.has_value());
  ASSERT_EQ(::symlink(victim.c_str(), (file_ + ".new").c_str()), 0);
  ASSERT_TRUE(write(*file, "counters\n"));
  EXPECT_EQ(text_of(victim), "precious");
  EXPECT_EQ(text_of(file_), "counters\n");
  EXPECT_FALSE(std::filesystem::is_symlink(file_));
}

TEST_F(StatisticsFileTest, StaysInItsDirectory) {
  auto file = StatisticsFile::open(file_);
  ASSERT_TRUE(file.has_value());
  const std::string moved = directory_ + "-moved";
  std::filesystem::rename(directory_, moved);
  std::filesystem::create_directory(directory_);
  ASSERT_TRUE(write(*file, "counters\n"));
  EXPECT_EQ(text_of(moved + "/file"), "counters\n");
  EXPECT_FALSE(std::filesystem::exists(file_));
  std::filesystem::remove_all(moved);
}

TEST_F(StatisticsFileTest, AFailureLeavesWhatWasThere) {
  auto file = StatisticsFile::open(file_);
  ASSERT_TRUE(file.has_value());
  put(file_, "before");
  std::filesystem::create_directory(file_ + ".new");
  ASSERT_TRUE(write(*file, "counters\n"));
  EXPECT_EQ(text_of(file_), "before");
}

TEST_F(StatisticsFileTest, WhatCannotBeWrittenIsRefused) {
  const auto missing = StatisticsFile::open(directory_ + "/no/such/file");
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code, ENOENT);
  EXPECT_NE(missing.error().message().find("/no/such/file"), std::string::npos);
  EXPECT_FALSE(StatisticsFile::open("/dev/null").has_value()) << "a device would be replaced";
  EXPECT_FALSE(StatisticsFile::open(directory_).has_value());
}

TEST_F(StatisticsFileTest, BelowTheMountPointIsRefused) {
  const auto below = check_own_file("stats", file_, directory_);
  ASSERT_FALSE(below.has_value());
  EXPECT_NE(below.error().message().find("below the mount point"), std::string::npos);
  EXPECT_FALSE(check_own_file("stats", file_, "/").has_value());
  const std::string link = directory_ + "-link";
  ASSERT_EQ(::symlink(directory_.c_str(), link.c_str()), 0);
  EXPECT_FALSE(check_own_file("capture", link + "/file", directory_).has_value());
  ::unlink(link.c_str());
  EXPECT_TRUE(check_own_file("stats", file_, directory_ + "/file-not").has_value());
  EXPECT_TRUE(check_own_file("stats", file_, directory_.substr(0, 8)).has_value());
  EXPECT_TRUE(check_own_file("stats", "", directory_).has_value()) << "no file";
  EXPECT_EQ(check_own_file("capture", "/no/such/file", "/m").error().code, ENOENT);
}

}  // namespace
}  // namespace nfsrdma::fuse
