// What is read from the mount table, and what is made of a mount that failed.
#include <gtest/gtest.h>

#include <cerrno>

#include "fuse/session/mount.h"
#include "fuse/session/mount_table.h"

namespace nfsrdma::fs {
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
}  // namespace nfsrdma::fs
