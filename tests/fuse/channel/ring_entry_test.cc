// An entry's memory when its slot is changed. Requests that lie in it: ring_receiver_test.cc.
#include "fuse/channel/ring_entry.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace nfsrdma::testing {
namespace {

using fuse::RingCommits;
using fuse::RingEntry;
using fuse::RingHeaders;

class RingEntryTest : public ::testing::Test, private RingCommits {
 protected:
  static constexpr std::size_t kSlots = 2;

  ~RingEntryTest() override { ::munmap(payload_.data(), payload_.size()); }

  static std::span<std::byte> map(std::size_t size) {
    void* const at =
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return {static_cast<std::byte*>(at), size};
  }

  /// From here on no slot can be shown: mremap(2) finds nothing at their addresses.
  void spoil_the_slots() {
    std::vector<Buffer> all;
    while (Buffer slot = pool_->acquire()) all.push_back(std::move(slot));
    for (const Buffer& slot : all) ::munmap(slot.data(), slot.size());
  }

  /// As mremap(2) leaves it that fails after it has made room.
  void lose_the_payload() { ::munmap(payload_.data(), payload_.size()); }

  bool payload_is_mapped() const {
    return ::msync(payload_.data(), payload_.size(), MS_ASYNC) == 0;
  }

  const std::size_t page_ = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  std::unique_ptr<BufferPool> pool_ =
      std::move(*BufferPool::create(page_, kSlots, BufferPool::Mapping::many));
  const std::span<std::byte> payload_ = map(page_);
  RingHeaders headers_{};
  RingEntry entry_{*this, 0, headers_, payload_};

 private:
  void commit(RingEntry&) override {}
};

TEST_F(RingEntryTest, HasMemoryWhenASlotCannotBeShown) {
  spoil_the_slots();
  lose_the_payload();
  ASSERT_FALSE(payload_is_mapped());
  EXPECT_FALSE(entry_.back_with_slot(*pool_));
  EXPECT_FALSE(entry_.has_slot());
  EXPECT_TRUE(payload_is_mapped());
}

TEST_F(RingEntryTest, PartsWithASlotWhenNoOtherCanBeShown) {
  ASSERT_TRUE(entry_.back_with_slot(*pool_));
  spoil_the_slots();
  const Buffer lent = entry_.lend_slot();
  payload_.front() = std::byte{1};
  headers_.payload_size = 1;
  entry_.part_with_slot();
  EXPECT_TRUE(entry_.lacks_slot());
  EXPECT_EQ(payload_.front(), std::byte{1});
  payload_.front() = std::byte{2};
  EXPECT_EQ(lent.data()[0], std::byte{1}) << "the borrower's";
}

}  // namespace
}  // namespace nfsrdma::testing
