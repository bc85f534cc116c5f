// Entries of directories as the kernel reads them (struct fuse_dirent, struct fuse_direntplus).
#include "fuse/channel/answers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace nfsrdma::fuse {
namespace {

constexpr std::byte kMark{0xa5};
constexpr std::string_view kName = "nine-char";  // three bytes are left until the next entry

using Memory = std::array<std::byte, 256>;

Memory marked() {
  Memory memory;
  memory.fill(kMark);
  return memory;
}

bool untouched(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [](std::byte byte) { return byte == kMark; });
}

bool zero(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{}; });
}

/// Puts an entry into `room`; what add_entry() or add_entry_plus() returns.
using Add = std::size_t (*)(std::span<std::byte> room);

class DirectoryEntry : public ::testing::TestWithParam<Add> {};

TEST_P(DirectoryEntry, IsLeftOutWhereItHasNoRoom) {
  Memory memory = marked();
  const std::size_t needed = GetParam()({});
  EXPECT_EQ(GetParam()(std::span(memory).first(needed - 1)), needed);
  EXPECT_TRUE(untouched(memory));
  EXPECT_EQ(GetParam()(std::span(memory).first(needed)), needed);
  EXPECT_TRUE(untouched(std::span(memory).subspan(needed)));
  EXPECT_FALSE(untouched(std::span(memory).first(needed)));
}

// Whatever the memory had before is not for the kernel.
TEST_P(DirectoryEntry, HasZerosBehindItsName) {
  Memory memory = marked();
  const std::size_t needed = GetParam()(memory);
  constexpr std::size_t kBehind =
      FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET + kName.size()) - (FUSE_NAME_OFFSET + kName.size());
  static_assert(kBehind > 0);
  EXPECT_TRUE(zero(std::span(memory).first(needed).last(kBehind)));
}

INSTANTIATE_TEST_SUITE_P(
    Forms, DirectoryEntry,
    ::testing::Values([](std::span<std::byte> room) { return add_entry(room, kName, {}, 7); },
                      [](std::span<std::byte> room) {
                        return add_entry_plus(room, kName, {}, 7);
                      }));

}  // namespace
}  // namespace nfsrdma::fuse
