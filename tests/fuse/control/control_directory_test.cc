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
#include <functional>

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
    EXPECT_EQ(std::ranges::count(found, path, &SocketOfUser::path), owner == kUser ? 1 : 0);
  }
  files::remove_all(theirs);
}

/// As an ordinary user, in a process of its own where this is root's: whether `holds` does.
bool as_user(uid_t user, const std::function<bool()>& holds) {
  if (::geteuid() != 0) return holds();
  const pid_t child = ::fork();
  if (child == 0) ::_exit(::setresuid(user, user, user) == 0 && holds() ? 0 : 1);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// A mount by a unit of systemd has XDG_RUNTIME_DIR, a shell after su or in cron has none; and the
// other way round.
TEST_F(ControlDirectoryTest, AUserFindsMountsOfOtherEnvironments) {
  const uid_t user = ::geteuid() != 0 ? ::geteuid() : 4'000'000'124;
  const std::string temporary = "/tmp/nfsrdma-" + std::to_string(user);
  ASSERT_EQ(::chmod(parent_.c_str(), 0755), 0);
  const bool made = ::mkdir(temporary.c_str(), 0700) == 0;
  ASSERT_TRUE(made || ::geteuid() != 0);
  ASSERT_EQ(::mkdir(directory_.c_str(), 0700), 0);
  files::create_directory_symlink(parent_, parent_ + "/alias");
  const auto here = control_path(directory_, ::getpid());
  const auto there = control_path(temporary, ::getpid());
  const auto killed = control_path(temporary, ended_process());
  const auto first = socket_at(here, true);
  const auto second = socket_at(there, true);
  socket_at(killed, true).reset();
  for (const auto& each : {directory_, temporary, here, there, killed}) {
    ASSERT_EQ(::chown(each.c_str(), user, user), 0);
  }
  // Sets the environment, finds all but those of the other place there, each once.
  const auto found = [&](const std::string& runtime, bool both) {
    return as_user(user, [&] {
      ::setenv("XDG_RUNTIME_DIR", runtime.c_str(), 1);
      const auto sockets = control_sockets();
      return std::ranges::count(sockets, there, &SocketOfUser::path) == 1 &&
             std::ranges::count(sockets, runtime + "/nfsrdma" + here.substr(directory_.size()),
                                &SocketOfUser::path) == (both ? 1 : 0);
    });
  };
  EXPECT_TRUE(found(parent_, true));
  EXPECT_TRUE(found(parent_ + "/alias", true));
  EXPECT_TRUE(found(parent_ + "/none", false));
  EXPECT_TRUE(as_user(user, [&] {
    for (const auto& own : control_directories()) remove_deserted_sockets(own);
    return !files::exists(killed) && files::exists(there);
  }));
  for (const auto& each : {there, killed}) files::remove(each);
  if (made) files::remove(temporary);
}

// One directory, two names: a mount is listed once.
TEST_F(ControlDirectoryTest, ADirectoryIsLookedInOnce) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root makes the directory of a session";
  constexpr uid_t kUser = 4'000'000'125;
  const std::string runtime = "/run/user/" + std::to_string(kUser);
  const std::string theirs = runtime + "/nfsrdma";
  files::create_directories(theirs);
  ASSERT_EQ(::chmod(theirs.c_str(), 0700), 0);
  const auto path = control_path(theirs, ::getpid());
  const auto listener = socket_at(path, true);
  for (const auto& each : {runtime, theirs, path})
    ASSERT_EQ(::chown(each.c_str(), kUser, kUser), 0);
  for (const std::string& name : {runtime, runtime + "/.", std::string("/nowhere")}) {
    EXPECT_TRUE(as_user(kUser, [&] {
      ::setenv("XDG_RUNTIME_DIR", name.c_str(), 1);
      return control_sockets().size() == 1;
    })) << name;
  }
  files::remove_all(runtime);
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
