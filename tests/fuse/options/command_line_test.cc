#include "fuse/options/command_line.h"

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

namespace nfsrdma::fuse {
namespace {

Result<CommandLine> parsed(std::vector<const char*> words) {
  return parse_command_line(static_cast<int>(words.size()), words.data());
}

std::string complaint(std::vector<const char*> words) {
  const auto line = parsed(std::move(words));
  return line ? "accepted" : line.error().detail;
}

TEST(CommandLine, SourceAndMountPoint) {
  const auto line = parsed({"nfsrdma", "server:/export", "/mnt"});
  ASSERT_TRUE(line.has_value());
  EXPECT_EQ(line->action, Action::mount);
  EXPECT_EQ(line->options.source.host, "server");
  EXPECT_EQ(line->options.mount_point, "/mnt");
  EXPECT_FALSE(line->options.program.foreground);
  EXPECT_FALSE(line->options.program.helper);
}

TEST(CommandLine, LettersMayStandAnywhereAndTogether) {
  const auto line =
      parsed({"nfsrdma", "server:/", "-fv", "/mnt", "-oport=3,ro", "-o", "rsize=4096"});
  ASSERT_TRUE(line.has_value()) << line.error().detail;
  EXPECT_TRUE(line->options.program.foreground);
  EXPECT_TRUE(line->options.program.verbose);
  EXPECT_FALSE(line->options.program.debug);
  EXPECT_EQ(line->options.transport.port, 3);
  EXPECT_TRUE(line->options.read_only);
  EXPECT_EQ(line->options.rsize, 4096u);
}

TEST(CommandLine, LongForms) {
  const auto line = parsed({"nfsrdma", "--foreground", "--debug", "s:/", "/mnt"});
  ASSERT_TRUE(line.has_value());
  EXPECT_TRUE(line->options.program.debug);
}

TEST(CommandLine, DebugStaysInTheForeground) {
  const auto line = parsed({"nfsrdma", "-d", "s:/", "/mnt"});
  ASSERT_TRUE(line.has_value());
  EXPECT_TRUE(line->options.program.foreground);
  EXPECT_TRUE(line->options.program.debug);
}

TEST(CommandLine, ReadOnlyAndReadWriteLettersInOrder) {
  EXPECT_TRUE(parsed({"nfsrdma", "-r", "s:/", "/mnt"})->options.read_only);
  EXPECT_FALSE(parsed({"nfsrdma", "-r", "-w", "s:/", "/mnt"})->options.read_only);
  EXPECT_TRUE(parsed({"nfsrdma", "-w", "-o", "ro", "s:/", "/mnt"})->options.read_only);
}

TEST(CommandLine, HelpAndVersionNeedNothingElse) {
  EXPECT_EQ(parsed({"nfsrdma", "-h"})->action, Action::show_help);
  EXPECT_EQ(parsed({"nfsrdma", "--help"})->action, Action::show_help);
  EXPECT_EQ(parsed({"nfsrdma", "-V"})->action, Action::show_version);
}

TEST(CommandLine, MissingAndSurplusWords) {
  EXPECT_NE(complaint({"nfsrdma"}).find("source and a mount point"), std::string::npos);
  EXPECT_NE(complaint({"nfsrdma", "s:/"}).find("source and a mount point"), std::string::npos);
  EXPECT_NE(complaint({"nfsrdma", "s:/", "/a", "/b"}).find("/b"), std::string::npos);
  EXPECT_NE(complaint({"nfsrdma", "-q", "s:/", "/a"}).find("-q"), std::string::npos);
  EXPECT_NE(complaint({"nfsrdma", "s:/", "/a", "-o"}), "accepted");
  EXPECT_NE(complaint({"nfsrdma", "nowhere", "/a"}).find("nowhere"), std::string::npos);
  EXPECT_NE(complaint({"nfsrdma", "s:/", ""}).find("the mount point is empty"), std::string::npos);
}

TEST(CommandLine, AMountPointBelowADirectoryThatWasRemoved) {
  EXPECT_EXIT(
      {
        char directory[] = "/tmp/nfsrdma-removed-XXXXXX";
        const bool there = ::mkdtemp(directory) && ::chdir(directory) == 0;
        const bool removed = there && ::rmdir(directory) == 0;
        const bool said =
            complaint({"nfsrdma", "s:/", "a"}).find("mount point a: No such file") == 0;
        std::_Exit(removed && said && parsed({"nfsrdma", "s:/", "/a"}) ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST(CommandLine, TheCommandIsNeverSloppy) {
  EXPECT_NE(complaint({"nfsrdma", "-s", "s:/", "/a"}), "accepted");
  EXPECT_NE(complaint({"nfsrdma", "-o", "frob", "s:/", "/a"}).find("frob"), std::string::npos);
}

class Helper : public testing::TestWithParam<const char*> {};

TEST_P(Helper, LettersAreThoseOfMount8) {
  const auto line = parsed({GetParam(), "server:/export", "/mnt", "-f", "-s", "-n", "-v", "-w",
                            "-N", "1234", "-t", "fuse.nfsrdma", "-o", "rw,frob,port=9"});
  ASSERT_TRUE(line.has_value()) << line.error().detail;
  const auto& program = line->options.program;
  EXPECT_TRUE(program.helper);
  EXPECT_TRUE(program.fake);
  EXPECT_FALSE(program.foreground) << "-f is fake here";
  EXPECT_TRUE(program.sloppy);
  EXPECT_TRUE(program.verbose);
  EXPECT_EQ(program.mount_namespace, "1234");
  EXPECT_FALSE(line->options.read_only);
  EXPECT_EQ(line->options.transport.port, 9);
}

TEST_P(Helper, IsStrictWithoutS) {
  EXPECT_NE(complaint({GetParam(), "s:/", "/a", "-o", "frob"}).find("frob"), std::string::npos);
}

TEST_P(Helper, ReadOnlyLetter) {
  EXPECT_TRUE(parsed({GetParam(), "s:/", "/a", "-r"})->options.read_only);
}

// mount(8) hands "suid,dev" over as nothing, and "nosuid" as it is.
TEST_P(Helper, HonoursSetUserIdModesForRootUnlessToldOtherwise) {
  using Flags = std::vector<std::string>;
  const bool root = ::geteuid() == 0;
  EXPECT_EQ(parsed({GetParam(), "s:/", "/a", "-o", "rw"})->options.mount_flags,
            root ? (Flags{"suid", "dev", "rw"}) : Flags{"rw"});
  EXPECT_EQ(parsed({GetParam(), "s:/", "/a", "-o", "nosuid"})->options.mount_flags,
            root ? (Flags{"suid", "dev", "nosuid"}) : Flags{"nosuid"});
  EXPECT_EQ(parsed({"nfsrdma", "s:/", "/a", "-o", "rw"})->options.mount_flags, Flags{"rw"});
}

/// A configuration with the one line "ro".
class ReadOnlyConfig {
 public:
  ReadOnlyConfig() {
    char name[] = "/tmp/nfsrdma-config-XXXXXX";
    const int file = ::mkstemp(name);
    if (file >= 0) ::close(file);
    path_ = name;
    std::ofstream(path_) << "[ NFSMount_Global_Options ]\nro\n";
  }
  ~ReadOnlyConfig() { std::filesystem::remove(path_); }
  ReadOnlyConfig(const ReadOnlyConfig&) = delete;
  ReadOnlyConfig& operator=(const ReadOnlyConfig&) = delete;

  /// Whether `program` mounts read only, with lists of -o that it is given.
  bool holds(const char* program, std::vector<std::string> lists) const {
    lists.push_back("config=" + path_);
    std::vector<const char*> words{program, "s:/", "/a"};
    for (const auto& list : lists) {
      words.push_back("-o");
      words.push_back(list.c_str());
    }
    return parsed(std::move(words))->options.read_only;
  }

 private:
  std::string path_;
};

// mount(8) says "rw" in front of its list for everybody who has not said "ro".
TEST_P(Helper, TheReadWriteOfMount8LeavesReadOnlyToTheConfiguration) {
  const ReadOnlyConfig config;
  EXPECT_TRUE(config.holds(GetParam(), {"rw"}));
  EXPECT_TRUE(config.holds(GetParam(), {"rw,noatime"}));
  EXPECT_FALSE(config.holds(GetParam(), {"rw,noatime,rw"})) << "said by somebody";
  EXPECT_FALSE(config.holds(GetParam(), {"noatime", "rw"}));
  EXPECT_FALSE(config.holds("nfsrdma", {"rw"}));
}

// The list that mount(8) makes of "-o remount,..." has all flags of the mount, and its other words.
TEST_P(Helper, TakesRemountWithTheFlagsOfTheList) {
  const auto line = parsed({GetParam(), "s:/", "/a", "-o",
                            "ro,nosuid,remount,noatime,relatime,user_id=0,nofail,x-a.b=c,port=5"});
  ASSERT_TRUE(line);
  EXPECT_EQ(line->action, Action::remount);
  EXPECT_EQ(line->options.mount_point, "/a");
  EXPECT_EQ(line->remount.flags, MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NOATIME | MS_RELATIME);
  EXPECT_EQ(line->remount.others, (std::vector<std::string>{"port=5"}));
  const auto writable = parsed({GetParam(), "s:/", "/a", "-o", "rw,remount"});
  ASSERT_TRUE(writable);
  EXPECT_EQ(writable->remount.flags, MS_REMOUNT);
  EXPECT_EQ(parsed({GetParam(), "s:/", "/a", "-o", "rw"})->action, Action::mount);
}

INSTANTIATE_TEST_SUITE_P(ByName, Helper,
                         testing::Values("mount.nfsrdma", "/sbin/mount.nfsrdma",
                                         "/sbin/mount.fuse.nfsrdma"));

}  // namespace
}  // namespace nfsrdma::fuse
