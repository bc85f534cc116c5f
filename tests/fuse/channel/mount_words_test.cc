// What is read from the mount table, and what is made of a mount that failed.
#include <gtest/gtest.h>

#include <cerrno>

#include "fuse/channel/mount_point.h"
#include "fuse/channel/mount_table.h"
#include "fuse/channel/own_mount.h"

namespace nfsrdma::fuse {
namespace {

constexpr const char* kTable =
    "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
    "40 22 0:53 / /mnt/a\\040b rw,nosuid - fuse.nfsrdma server:/x\\134y rw,user_id=0\n"
    "41 22 0:54 / /mnt/two rw master:3 propagate_from:2 - tmpfs tmpfs rw\n"
    "42 41 0:55 / /mnt/two rw - fuse.nfsrdma server:/export rw\n"
    "43 22 0:56 / /mnt/short\n";

TEST(MountTable, EscapedNames) {
  const auto entry = find_mount_in(kTable, "/mnt/a b");
  ASSERT_TRUE(entry.has_value());
  EXPECT_EQ(entry->device, "0:53");
  EXPECT_EQ(entry->type, "fuse.nfsrdma");
  EXPECT_EQ(entry->source, "server:/x\\y");
}

TEST(MountTable, TheTopmostOfSeveral) {
  const auto entry = find_mount_in(kTable, "/mnt/two");
  ASSERT_TRUE(entry.has_value());
  EXPECT_EQ(entry->source, "server:/export");
}

TEST(MountTable, OnlyWholePathsAndWholeLines) {
  EXPECT_FALSE(find_mount_in(kTable, "/mnt").has_value());
  EXPECT_FALSE(find_mount_in(kTable, "/mnt/short").has_value());
  EXPECT_FALSE(find_mount_in("", "/").has_value());
}

constexpr const char* kTree =
    "51 60 0:60 / /m/moved/deep rw - tmpfs below rw\n"
    "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
    "60 40 0:53 / /m/moved rw - fuse.nfsrdma server:/x rw\n"
    "40 22 0:53 / /m rw - fuse.nfsrdma server:/x rw\n"
    "45 22 0:57 / /n rw - fuse.nfsrdma server:/x rw\n"
    "46 45 0:58 / /n rw - tmpfs on_top rw\n";

using State = MountPlace::State;

MountPlace place(const OwnMount& mount, const char* table) {
  return place_of(mount, parse_mount_table(table));
}

TEST(MountPlace, IsFoundByNumberWhateverItsPathIs) {
  const auto found = place({"/before", "0:54", 41}, kTable);
  EXPECT_EQ(found.state, State::covered);
  EXPECT_EQ(found.path, "/mnt/two");
  EXPECT_EQ(place({"/mnt/a b", "0:53", 40}, kTable).state, State::free);
  EXPECT_EQ(place({"/before", "0:53", 40}, kTable).path, "/mnt/a b");
}

TEST(MountPlace, AnotherMountOnTheSamePathIsNotIt) {
  EXPECT_EQ(place({"/mnt/two", "0:99", 42}, kTable).state, State::gone);
  EXPECT_EQ(place({"/mnt/two", "0:55", 41}, kTable).state, State::gone) << "a bind mount of it";
  EXPECT_EQ(place({"/mnt/two", "", 0}, kTable).state, State::gone) << "not known";
}

TEST(MountPlace, WhatLiesOnTopOrBelowIsNamed) {
  EXPECT_EQ(place({"/n", "0:57", 45}, kTree).others, "tmpfs on /n");
  const auto used = place({"/m", "0:53", 40}, kTree);
  EXPECT_EQ(used.state, State::used);
  EXPECT_EQ(used.others, "tmpfs on /m/moved/deep");
}

TEST(MountPlace, WithoutATableOrMountIds) {
  EXPECT_EQ(place({"/m", "0:53", 40}, "").path, "/m");
  EXPECT_EQ(place({"/m", "0:53", 0}, kTree).path, "/m") << "not its bind mount";
}

TEST(OwnMount, IsNoOtherFileSystem) {
  EXPECT_FALSE(identify_mount("/proc").known()) << "not a FUSE mount";
  EXPECT_FALSE(identify_mount("/nonexistent").known());
  EXPECT_FALSE(lies_at({"/proc", "", 0}, "/proc"));
  EXPECT_FALSE(lies_at({"/proc", "0:99999", 0}, "/proc"));
}

TEST(MountFailure, WhatLibfuseSaysBecomesARemedy) {
  const auto missing =
      explain_mount_failure("fuse: failed to exec fusermount3: No such file or directory\n", "/m");
  EXPECT_EQ(missing.code, ENOENT);
  EXPECT_NE(missing.detail.find("install the package fuse3"), std::string::npos);
  const auto others = explain_mount_failure(
      "fusermount3: option allow_other only allowed if 'user_allow_other' is set in "
      "/etc/fuse.conf\n",
      "/m");
  EXPECT_EQ(others.code, EPERM);
}

TEST(MountFailure, UnknownWordsArePassedOnAsOneLine) {
  const auto error =
      explain_mount_failure("first\nfusermount3: mount failed: Cannot allocate memory\n", "/m");
  EXPECT_EQ(error.detail, "mount failed: Cannot allocate memory");
  EXPECT_NE(explain_mount_failure("", "/m").detail.find("/m"), std::string::npos);
}

TEST(MountPoint, MustBeADirectory) {
  EXPECT_TRUE(check_mount_point("/tmp").has_value());
  EXPECT_EQ(check_mount_point("/tmp/../tmp").value(), "/tmp");
  EXPECT_TRUE(check_mount_point("/nonexistent/x").error().is(Layer::local, ENOENT));
  EXPECT_TRUE(check_mount_point("/etc/passwd").error().is(Layer::local, ENOTDIR));
}

}  // namespace
}  // namespace nfsrdma::fuse
