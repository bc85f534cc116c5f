// The memory that a process may have, in a tree of proc and sys of our own.
#include "fuse/daemon/memory_limit.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace nfsrdma::fuse {
namespace {

constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;

class MemoryLimit : public ::testing::Test {
 protected:
  MemoryLimit() {
    put("proc/meminfo", "MemTotal:        8388608 kB\nMemFree:  1 kB\n");
    put("proc/self/cgroup", "0::/\n");
  }
  ~MemoryLimit() override { std::filesystem::remove_all(root_); }

  void put(const std::string& file, const std::string& text) {
    const std::filesystem::path path = root_ / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  std::uint64_t mebibytes() const { return memory_limit(root_) / kMebibyte; }

 private:
  const std::filesystem::path root_ =
      std::filesystem::temp_directory_path() / ("memory-limit-" + std::to_string(::getpid()));
};

TEST_F(MemoryLimit, WithoutACgroupIsThatOfTheMachine) { EXPECT_EQ(mebibytes(), 8192u); }

TEST_F(MemoryLimit, IsTheLeastOfTheCgroupsUpwards) {
  put("proc/self/cgroup", "0::/a.slice/b\n");
  put("sys/fs/cgroup/a.slice/b/memory.max", "max\n");
  EXPECT_EQ(mebibytes(), 8192u);
  put("sys/fs/cgroup/a.slice/memory.max", std::to_string(300 * kMebibyte) + "\n");
  EXPECT_EQ(mebibytes(), 300u);
  put("sys/fs/cgroup/a.slice/b/memory.max", std::to_string(200 * kMebibyte) + "\n");
  EXPECT_EQ(mebibytes(), 200u);
  put("sys/fs/cgroup/a.slice/memory.high", std::to_string(100 * kMebibyte) + "\n");
  EXPECT_EQ(mebibytes(), 100u);
}

TEST_F(MemoryLimit, InAContainerIsThatOfTheTop) {
  put("proc/self/cgroup", "0::/not/shown/here\n");
  put("sys/fs/cgroup/memory.max", std::to_string(200 * kMebibyte) + "\n");
  EXPECT_EQ(mebibytes(), 200u);
}

TEST_F(MemoryLimit, IsFoundInVersionOne) {
  put("proc/self/cgroup", "5:cpu,cpuacct:/x\n4:hugetlb,memory:/x/y\n0::/\n");
  put("sys/fs/cgroup/memory/x/memory.limit_in_bytes", std::to_string(400 * kMebibyte) + "\n");
  put("sys/fs/cgroup/memory/x/y/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(mebibytes(), 400u);
}

TEST_F(MemoryLimit, WhatIsNotUnderstoodLimitsNothing) {
  put("proc/self/cgroup", "\n:\n0:\n0::\n0::relative\nmemory\n");
  EXPECT_EQ(mebibytes(), 8192u);
}

TEST(DefaultInodes, TakeAnEighthOfTheMemory) {
  EXPECT_EQ(default_inodes(200 * kMebibyte), 25600u);
  EXPECT_EQ(default_inodes(0), 4096u);
  EXPECT_EQ(default_inodes(UINT64_MAX), std::size_t{1} << 24);
}

}  // namespace
}  // namespace nfsrdma::fuse
