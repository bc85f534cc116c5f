// The configuration file: which sections hold, in which order, and what its lines mean.
#include "fuse/options/config_file.h"

#include <gtest/gtest.h>

namespace nfsrdma::fuse {
namespace {

const ConfigTarget kTarget{"server", "/mnt"};
using Items = std::vector<std::string>;

Items items_of(std::string_view text) {
  auto items = parse_config(text, kTarget);
  EXPECT_TRUE(items) << items.error().detail;
  return items ? *items : Items();
}

TEST(ConfigFile, NothingIsNothing) {
  EXPECT_EQ(items_of(""), Items());
  EXPECT_EQ(items_of("\n# a comment\n ; another\n\t\n"), Items());
}

TEST(ConfigFile, WhatIsNearerToTheMountComesLater) {
  EXPECT_EQ(items_of("[ MountPoint \"/mnt\" ]\nrsize=3\n"
                     "[ Server \"server\" ]\nrsize=2\n"
                     "[ NFSMount_Global_Options ]\nrsize=1\n"),
            (Items{"rsize=1", "rsize=2", "rsize=3"}));
}

TEST(ConfigFile, SectionsOfOthersDoNotHold) {
  EXPECT_EQ(items_of("[ Server \"other\" ]\nrsize=1\n[ MountPoint \"/mnt/sub\" ]\nrsize=2\n"
                     "[ Server \"server.example\" ]\nrsize=3\n[ MountPoint \"/\" ]\nrsize=4\n"),
            Items());
  EXPECT_EQ(items_of("[server \"SERVER\"]\nro\n[MOUNTPOINT \"/mnt/\"]\nsoft"),
            (Items{"ro", "soft"}));
}

TEST(ConfigFile, TrueAndFalseAreWords) {
  EXPECT_EQ(items_of("[NFSMount_Global_Options]\n soft = True\nresvport=false\r\nproto = tcp\nro\n"
                     "fsname=a=b c\n"),
            (Items{"soft", "noresvport", "proto=tcp", "ro", "fsname=a=b c"}));
}

TEST(ConfigFile, BehindASectionsHeaderAreCommentsOnly) {
  EXPECT_EQ(items_of("[ Server \"other\" ]\nrsize=1\n"
                     "[ Server \"server\" ] # the [old] one\nrsize=2\n"
                     "[ MountPoint \"/mnt\" ]; \"data\"\nrsize=3\n"),
            (Items{"rsize=2", "rsize=3"}));
  const ConfigTarget brackets{"server", "/mnt/[a]"};
  const auto items = parse_config("[ MountPoint \"/mnt/[a]\" ] # a\nro\n", brackets);
  ASSERT_TRUE(items) << items.error().detail;
  EXPECT_EQ(*items, Items{"ro"});
  for (const char* text : {"[ NFSMount_Global_Options ]\n[ Server \"server\" ] ro\n",
                           "[ NFSMount_Global_Options ]\n[ Server \"server\" ]]\n",
                           "[ NFSMount_Global_Options ]\n[ Server \"server\"\n"}) {
    const auto wrong = parse_config(text, kTarget);
    ASSERT_FALSE(wrong) << text;
    EXPECT_TRUE(wrong.error().detail.starts_with("line 2: ")) << wrong.error().detail;
  }
}

TEST(ConfigFile, WhatIsNoConfigurationIsRefusedByLine) {
  for (const char* text :
       {"\nrsize=1\n", "\n[ Servers \"x\" ]\n", "\n[ Server x ]\n", "\n[ Server \" ]\n", "\n[]\n",
        "\n[ Server \"x\"\n", "\n[ NFSMount_Global_Options \"x\" ]\n", "\n[\"x\"]\n"}) {
    const auto items = parse_config(text, kTarget);
    ASSERT_FALSE(items) << text;
    EXPECT_TRUE(items.error().detail.starts_with("line 2: ")) << items.error().detail;
  }
}

TEST(ConfigFile, OnlyTheOneOfTheSystemMayBeMissing) {
  EXPECT_FALSE(read_config("/nonexistent/file", kTarget));
}

}  // namespace
}  // namespace nfsrdma::fuse
