// What a dispatcher answers by itself: FUSE_INIT, what is malformed, what has no handler.
#include "fuse/channel/dispatcher.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "fuse/channel/ring_format.h"
#include "tests/fuse/channel/fake_kernel.h"
#include "tests/support/memory_fs.h"
#include "tests/support/virtual_reactor.h"

namespace nfsrdma::fuse::test {
namespace {

constexpr std::uint64_t kFile = nfsrdma::testing::MemoryFileSystem::kFirstFile;

class DispatcherTest : public ::testing::Test {
 protected:
  DispatcherTest() { files_.add("f", 100); }

  void make_kernel(bool only_owner_and_root = false) {
    kernel_ = std::make_unique<FakeKernel>(
        reactor_, *slots_,
        Serving{nfsrdma::testing::MemoryFileSystem::handlers(), &files_, {}, only_owner_and_root});
  }
  template <class... Parts>
  Answer ask(std::uint32_t opcode, std::uint64_t node, const Parts&... parts) {
    return kernel_->take_answer(kernel_->send_request(opcode, node, parts...));
  }

  VirtualReactor reactor_;
  nfsrdma::testing::MemoryFileSystem files_;
  std::unique_ptr<BufferPool> slots_ = std::move(*BufferPool::create(kSlotSize, 2));
  std::unique_ptr<FakeKernel> kernel_;
};

TEST_F(DispatcherTest, WhatNobodyServesIsNotThere) {
  make_kernel();
  EXPECT_EQ(ask(FUSE_LSEEK, kFile, fuse_lseek_in{}).error, ENOSYS);
  EXPECT_EQ(ask(4711, kFile).error, ENOSYS);
  EXPECT_EQ(ask(FUSE_DESTROY, 0).error, 0);
}

TEST_F(DispatcherTest, ARequestThatEndsTooEarlyIsRefused) {
  make_kernel();
  const std::array<std::byte, 4> short_structure{};
  EXPECT_EQ(ask(FUSE_READ, kFile, std::span<const std::byte>(short_structure)).error, EIO);
  EXPECT_EQ(ask(FUSE_LOOKUP, FUSE_ROOT_ID).error, EIO);
  EXPECT_EQ(ask(FUSE_LOOKUP, FUSE_ROOT_ID, "").error, EIO) << "an empty name";
  const std::array unended = {std::byte{'f'}};
  EXPECT_EQ(ask(FUSE_LOOKUP, FUSE_ROOT_ID, std::span<const std::byte>(unended)).error, EIO);
  EXPECT_EQ(ask(FUSE_CREATE, FUSE_ROOT_ID, fuse_create_in{}).error, EIO);
  EXPECT_EQ(ask(FUSE_WRITE, kFile, fuse_write_in{.size = 5}, "four").error, 0);
  EXPECT_EQ(ask(FUSE_WRITE, kFile, fuse_write_in{.size = 6}, "four").error, EIO);
  EXPECT_EQ(kernel_->counters().malformed.value(), 6U);
}

TEST_F(DispatcherTest, ABatchThatIsShorterThanItSaysIsRefused) {
  make_kernel();
  const auto forget = kernel_->send_request(FUSE_BATCH_FORGET, 0, fuse_batch_forget_in{2, 0},
                                            fuse_forget_one{kFile, 1});
  EXPECT_EQ(kernel_->take_answer(forget).error, EIO);
  const auto well = kernel_->send_request(FUSE_BATCH_FORGET, 0, fuse_batch_forget_in{1, 0},
                                          fuse_forget_one{kFile, 1});
  EXPECT_FALSE(kernel_->answered(well)) << "FORGET has no answer";
}

// Linux waits for it where it could not use an inode that a listing brought: the directory would
// stay locked for ever.
TEST_F(DispatcherTest, AForgetOverARingGivesTheEntryBack) {
  make_kernel();
  const fuse_forget_in once{1};
  EXPECT_FALSE(kernel_->answered(kernel_->send_request(FUSE_FORGET, kFile, once)));
  kernel_->is_ring = true;
  const Answer given_back = ask(FUSE_FORGET, kFile, once);
  EXPECT_EQ(given_back.error, 0);
  EXPECT_TRUE(given_back.body.empty());
  EXPECT_EQ(kernel_->counters().unanswered.value(), 0U);
}

TEST_F(DispatcherTest, AllowRootRefusesOtherUsersButForWhatIsOpen) {
  make_kernel(/*only_owner_and_root=*/true);
  kernel_->caller.uid = 4242;
  EXPECT_EQ(ask(FUSE_LOOKUP, FUSE_ROOT_ID, "f").error, EACCES);
  EXPECT_EQ(ask(FUSE_GETATTR, kFile, fuse_getattr_in{}).error, EACCES);
  EXPECT_EQ(ask(FUSE_READ, kFile, fuse_read_in{.size = 7}).body.size(), 7U);
  EXPECT_NE(ask(FUSE_FLUSH, kFile, fuse_flush_in{}).error, EACCES) << "close(2)";
  kernel_->caller.uid = 0;
  EXPECT_EQ(ask(FUSE_LOOKUP, FUSE_ROOT_ID, "f").error, 0);
}

TEST_F(DispatcherTest, InitComesOnceAndFirst) {
  make_kernel();
  const fuse_init_in again{.major = FUSE_KERNEL_VERSION, .minor = 38};
  EXPECT_EQ(ask(FUSE_INIT, 0, again).error, EIO);
  EXPECT_EQ(ask(FUSE_LOOKUP, FUSE_ROOT_ID, "f").error, 0);
}

TEST_F(DispatcherTest, NothingIsServedBeforeInit) {
  make_kernel();
  Dispatcher other(reactor_, kernel_->in_flight(),
                   Serving{nfsrdma::testing::MemoryFileSystem::handlers(), &files_, {}});
  Message message;
  message.header.opcode = FUSE_STATFS;
  message.header.unique = 4711;
  message.header.nodeid = FUSE_ROOT_ID;
  other.dispatch(*kernel_, message);
  EXPECT_EQ(kernel_->take_answer(4711).error, EIO);
}

TEST_F(DispatcherTest, ALateInterruptIsNothing) {
  make_kernel();
  kernel_->interrupt(4711);
  EXPECT_EQ(kernel_->counters().interrupts.value(), 0U);
}

TEST_F(DispatcherTest, OnlyAKernelThatKnowsTheFlagIsToldToLookANameUpAnew) {
  make_kernel();
  EXPECT_EQ(notify_expire_entry(*kernel_, FUSE_ROOT_ID, "name"), 0);
  ASSERT_EQ(kernel_->notifications().size(), 1U);
  EXPECT_EQ(kernel_->notifications()[0].name, "name");
  kernel_->kernel_minor = 37;
  EXPECT_EQ(notify_expire_entry(*kernel_, FUSE_ROOT_ID, "name"), ENOSYS);
  EXPECT_EQ(kernel_->notifications().size(), 1U);
}

// Linux 6.1 says 38, as 6.2 does.
TEST_F(DispatcherTest, AKernelBefore66IsTakenToBelieveRefutedNames) {
  make_kernel();
  kernel_->kernel_minor = 38;
  EXPECT_FALSE(doubts_refuted_names(*kernel_));
  kernel_->kernel_minor = 39;
  EXPECT_TRUE(doubts_refuted_names(*kernel_));
}

class Negotiation : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kAll = ~0U;
  static fuse_init_out agreed(std::uint32_t offered, const TransferLimits& limits) {
    const fuse_init_in kernel{.major = 7, .minor = 38, .flags = offered};
    return negotiate(kernel, limits).value_or(fuse_init_out{});
  }
};

TEST_F(Negotiation, TakesWhatIsWantedAmongWhatIsOffered) {
  const fuse_init_out all = agreed(kAll, {});
  EXPECT_EQ(all.flags, 0x4048b423U) << "what libfuse 3.14 and HANDLE_KILLPRIV came to";
  EXPECT_EQ(all.max_write, kMaxTransfer);
  EXPECT_EQ(all.max_pages, kMaxTransfer / 4096);
  EXPECT_EQ(all.max_background, kMaxBackground);
  EXPECT_EQ(all.time_gran, 1U);
  EXPECT_EQ(agreed(0, {}).flags, std::uint32_t{FUSE_BIG_WRITES | FUSE_HANDLE_KILLPRIV});
}

TEST_F(Negotiation, AsksForMapsOfFilesOpenForDirectIo) {
  const fuse_init_in newer{
      .major = 7, .minor = 39, .flags = FUSE_INIT_EXT, .flags2 = kDirectIoAllowMmap | 1U};
  EXPECT_EQ(negotiate(newer, {})->flags2, kDirectIoAllowMmap);
  const fuse_init_in offers{
      .major = 7, .minor = 42, .flags = FUSE_INIT_EXT, .flags2 = kOverIoUring};
  EXPECT_EQ(negotiate(offers, {})->flags2, 0U) << "not asked for";
  EXPECT_EQ(negotiate(offers, {.io_uring = true})->flags2, kOverIoUring);
  EXPECT_EQ(negotiate(newer, {.io_uring = true})->flags2, kDirectIoAllowMmap) << "not offered";
  EXPECT_EQ(negotiate({.major = 7, .minor = 38, .flags = FUSE_INIT_EXT}, {})->flags2, 0U);
}

TEST_F(Negotiation, FollowsTheMountsLimits) {
  TransferLimits limits;
  limits.max_read = limits.max_write = 65536;
  limits.readdirplus = limits.posix_locks = limits.flock_locks = false;
  limits.explicit_invalidation = true;
  const fuse_init_out out = agreed(kAll, limits);
  EXPECT_EQ(out.max_write, 65536U);
  EXPECT_EQ(out.max_pages, 16U);
  EXPECT_FALSE(out.flags & (FUSE_DO_READDIRPLUS | FUSE_POSIX_LOCKS | FUSE_FLOCK_LOCKS));
  EXPECT_TRUE(out.flags & FUSE_EXPLICIT_INVAL_DATA);
  EXPECT_FALSE(out.flags & FUSE_AUTO_INVAL_DATA);
  EXPECT_TRUE(agreed(FUSE_AUTO_INVAL_DATA, limits).flags & FUSE_AUTO_INVAL_DATA);
  EXPECT_EQ(agreed(0, {}).max_write, 32U * 4096) << "without MAX_PAGES";
}

// Pages are those of any request, a READ's as well.
TEST_F(Negotiation, ASmallWriteLimitIsNoneOfReads) {
  const fuse_init_out small_writes = agreed(kAll, {.max_write = 65536});
  EXPECT_EQ(small_writes.max_pages, 256U);
  EXPECT_EQ(small_writes.max_write, 65536U);
  const fuse_init_out small_reads = agreed(kAll, {.max_read = 65536});
  EXPECT_EQ(small_reads.max_pages, 256U);
  EXPECT_EQ(small_reads.max_write, kMaxTransfer);
  EXPECT_EQ(agreed(kAll, {.max_read = 8 * kMaxTransfer, .max_write = 4096}).max_pages, 256U);
}

TEST_F(Negotiation, RefusesAnOldKernelAndTellsANewerOneItsVersion) {
  EXPECT_FALSE(negotiate({.major = 6, .minor = 99}, {}));
  EXPECT_FALSE(negotiate({.major = 7, .minor = 22}, {}));
  const auto newer = negotiate({.major = 8, .minor = 0}, {});
  ASSERT_TRUE(newer);
  EXPECT_EQ(newer->major, 7U);
  EXPECT_EQ(newer->flags, 0U);
}

}  // namespace
}  // namespace nfsrdma::fuse::test
