// Where sockets are looked for, and in which directories none is believed.
#include "fuse/control/control_directory.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "fuse/control/socket_file.h"

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

/// A socket that is bound to `path`, and listens if it is told to.
UniqueFd socket_at(const std::string& path, bool listens) {
  UniqueFd made = std::move(*make_socket());
  const auto address = socket_address(path);
  EXPECT_EQ(::bind(made.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address), 0);
  if (listens) {
    EXPECT_EQ(::listen(made.get(), 1), 0);
  }
  return made;
}

/// The id of a process that has ended.
pid_t ended_process() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
  return child;
}

// What is kept is of a daemon that starts, or of one that listens, or no socket of a daemon at all.
TEST_F(ControlDirectoryTest, OnlySocketsOfDaemonsThatWereKilledAreRemoved) {
  ASSERT_TRUE(make_control_directory(directory_));
  const auto killed = control_path(directory_, ended_process());
  const auto starting = control_path(directory_, ::getpid());
  const auto elsewhere = control_path(directory_, ended_process());
  const auto named = directory_ + "/mine.sock";
  const auto file = control_path(directory_, ended_process());
  socket_at(killed, true).reset();
  const auto bound = socket_at(starting, false);
  const auto listener = socket_at(elsewhere, true);
  socket_at(named, true).reset();
  std::ofstream(file) << "precious";
  remove_deserted_sockets(directory_);
  EXPECT_FALSE(files::exists(killed));
  for (const auto& kept : {starting, elsewhere, named, file})
    EXPECT_TRUE(files::exists(kept)) << kept;
}

// Its sockets might answer for mounts of others, or not at all, one after the other.
TEST_F(ControlDirectoryTest, RootAsksInADirectoryOnlyWhoseNameSaysWhoseItIs) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root asks in the directories of others";
  constexpr uid_t kUser = 4'000'000'123;
  const std::string theirs = "/tmp/nfsrdma-" + std::to_string(kUser);
  ASSERT_EQ(::mkdir(theirs.c_str(), 0700), 0);
  const auto path = control_path(theirs, ::getpid());
  const auto listener = socket_at(path, true);
  for (const uid_t owner : {kUser, kUser + 1}) {
    ASSERT_EQ(::chown(theirs.c_str(), owner, owner), 0);
    const auto found = control_sockets();
    EXPECT_EQ(std::ranges::count(found, path), owner == kUser ? 1 : 0);
  }
  files::remove_all(theirs);
}

TEST_F(ControlDirectoryTest, NothingIsRemovedWhereOthersMayWrite) {
  ASSERT_TRUE(make_control_directory(directory_));
  const auto killed = control_path(directory_, ended_process());
  socket_at(killed, true).reset();
  ASSERT_EQ(::chmod(directory_.c_str(), 0777), 0);
  remove_deserted_sockets(directory_);
  EXPECT_TRUE(files::exists(killed));
}

}  // namespace
}  // namespace nfsrdma::fuse
