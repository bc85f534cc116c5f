// Where sockets are looked for, and in which directories none is believed.
#include "fuse/control/control_directory.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

namespace nfsrdma::fuse {
namespace {

namespace files = std::filesystem;

class ControlDirectoryTest : public ::testing::Test {
 protected:
  ControlDirectoryTest() {
    char directory[] = "/tmp/nfsrdma_control_XXXXXX";
    parent_ = ::mkdtemp(directory);
    directory_ = parent_ + "/nfsrdma";
  }
  ~ControlDirectoryTest() override { files::remove_all(parent_); }

  std::string parent_;
  std::string directory_;
};

TEST_F(ControlDirectoryTest, IsMadeForTheUserAloneAndUsedAgain) {
  ASSERT_TRUE(make_control_directory(directory_));
  struct stat status {};
  ASSERT_EQ(::stat(directory_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777u, 0700u);
  EXPECT_TRUE(make_control_directory(directory_));
}

TEST_F(ControlDirectoryTest, OneThatOthersMayWriteToIsRefused) {
  ASSERT_EQ(::mkdir(directory_.c_str(), 0700), 0);
  ASSERT_EQ(::chmod(directory_.c_str(), 0777), 0);
  const auto made = make_control_directory(directory_);
  ASSERT_FALSE(made);
  EXPECT_TRUE(made.error().is(Layer::local, EPERM)) << made.error().message();
}

TEST_F(ControlDirectoryTest, ASymbolicLinkIsRefused) {
  ASSERT_EQ(::mkdir((parent_ + "/other").c_str(), 0700), 0);
  files::create_symlink(parent_ + "/other", directory_);
  EXPECT_FALSE(make_control_directory(directory_));
}

TEST_F(ControlDirectoryTest, AnotherUsersIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a directory away";
  constexpr uid_t kNobody = 65534;
  ASSERT_EQ(::mkdir(directory_.c_str(), 0700), 0);
  ASSERT_EQ(::chown(directory_.c_str(), kNobody, kNobody), 0);
  EXPECT_FALSE(make_control_directory(directory_));
}

TEST_F(ControlDirectoryTest, RootHasItsOwnAndUsersThatOfTheirSession) {
  if (::geteuid() == 0) {
    EXPECT_EQ(control_directory(), "/run/nfsrdma");
  } else {
    ASSERT_EQ(::setenv("XDG_RUNTIME_DIR", parent_.c_str(), 1), 0);
    EXPECT_EQ(control_directory(), directory_);
    ASSERT_EQ(::unsetenv("XDG_RUNTIME_DIR"), 0);
    EXPECT_EQ(control_directory(), "/tmp/nfsrdma-" + std::to_string(::geteuid()));
  }
  EXPECT_EQ(control_path("/d", 7), "/d/7.sock");
}

}  // namespace
}  // namespace nfsrdma::fuse
