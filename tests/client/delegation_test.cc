// Delegations: asked for, used without a request, recalled, returned, lost and got back. Two
// clients of the responder's NFSv4.1 service, in virtual time.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/ops/close.h"
#include "client/ops/getattr.h"
#include "client/ops/lock.h"
#include "client/ops/lookup.h"
#include "client/ops/read.h"
#include "client/ops/remove.h"
#include "client/ops/rename.h"
#include "client/ops/setattr.h"
#include "client/state/delegation_table.h"
#include "client/state/open_table.h"
#include "tests/client/served_mount.h"
#include "tests/support/counter_of.h"

namespace nfsrdma::client::test {
namespace {

using namespace nfs4;
using responder::DelegationKind;

constexpr std::uint32_t kRead = OPEN4_SHARE_ACCESS_READ;
constexpr std::uint32_t kWrite = OPEN4_SHARE_ACCESS_WRITE;
constexpr std::uint32_t kBoth = OPEN4_SHARE_ACCESS_BOTH;
constexpr const char* kContent = "content of the file";

/// `mount()` holds the delegations, `other()` is in their way.
class Delegations : public ServedMount {
 protected:
  explicit Delegations(DelegationKind kind = DelegationKind::write) : ServedMount(kind) {
    other_messages_ =
        std::move(*BufferPool::create(Mount::kMessageSlotBytes, Mount::message_slots(kSlots)));
    other_ = make_mount(*other_messages_);
  }
  void SetUp() override {
    ServedMount::SetUp();
    auto started = run(other_->start());
    ASSERT_TRUE(started) << started.error().message();
    server_.write_file("file", kContent);
  }
  void TearDown() override {
    server_.hold_callbacks = false;
    server_.fate = nullptr;
    server_.after = nullptr;
    (void)run(other_->stop());
    other_.reset();
    ServedMount::TearDown();
  }

  Mount& other() { return *other_; }
  std::uint64_t other_counter(const std::string& name) const {
    return testing::counter_of(*other_, name);
  }
  /// Opens, and asserts that a delegation came with it or was there.
  Opened open_delegated(const std::string& name, std::uint32_t access) {
    Opened opened = open_file(name, access);
    EXPECT_TRUE(mount().delegations().held(opened.handle)) << name;
    return opened;
  }
  Result<Opened> open_at_other(const std::string& name, std::uint32_t access) {
    return run(open_by_name(other(), caller(), other().root(), name, access));
  }
  std::optional<OpenedLocally> open_here(const Opened& known, std::uint32_t access) {
    return open_locally(mount(), caller(), known.handle, access);
  }
  void close_at(Mount& where, OpenRef open) {
    auto closed = run(close(where, std::move(open)));
    EXPECT_TRUE(closed) << closed.error().message();
  }
  std::size_t requests() const { return server_.arrivals().size(); }

  std::unique_ptr<BufferPool> other_messages_;
  std::unique_ptr<Mount> other_;
};

TEST_F(Delegations, OpensAndClosesOfADelegatedFileSendNothing) {
  Opened first = open_delegated("file", kRead);
  const std::size_t before = requests();
  for (int i = 0; i < 3; ++i) {
    auto again = open_here(first, kRead);
    ASSERT_TRUE(again);
    close_at(mount(), std::move(again->open));
  }
  close_at(mount(), std::move(first.open));
  auto after_close = open_here(first, kRead);
  ASSERT_TRUE(after_close);
  EXPECT_EQ(requests(), before);
  EXPECT_EQ(counter("delegation_opens"), 4U);
  EXPECT_EQ(counter("delegations"), 1U);
  close_at(mount(), std::move(after_close->open));
}

TEST_F(Delegations, ReadsNameTheDelegation) {
  const Opened first = open_delegated("file", kRead);
  const DelegationRef delegation = mount().delegations().held(first.handle);
  EXPECT_EQ(first.open->stateid(), delegation->stateid());
  auto text = read_text(first);
  ASSERT_TRUE(text) << text.error().message();
  EXPECT_EQ(*text, kContent);
}

TEST_F(Delegations, WhatADelegationDoesNotCoverGoesToTheServer) {
  const Opened first = open_delegated("file", kRead);
  EXPECT_FALSE(open_here(first, kWrite)) << "a read delegation";
  Caller stranger = caller();
  stranger.gid += 1;
  EXPECT_FALSE(open_locally(mount(), stranger, first.handle, kRead)) << "nobody has let him in";
}

TEST_F(Delegations, ARecallIsFollowedByReturnAndTheOpenGoesOn) {
  Opened first = open_delegated("file", kRead);
  close_at(mount(), std::move(first.open));
  auto local = open_here(first, kRead);
  ASSERT_TRUE(local);
  auto writer = open_at_other("file", kWrite);
  ASSERT_TRUE(writer) << writer.error().message();
  EXPECT_EQ(counter("delegations_recalled"), 1U);
  EXPECT_EQ(counter("delegations_returned"), 1U);
  EXPECT_EQ(counter("delegations"), 0U);
  EXPECT_FALSE(mount().delegations().held(first.handle));
  first.open = std::move(local->open);
  auto text = read_text(first);
  EXPECT_TRUE(text) << text.error().message();
  close_at(mount(), std::move(first.open));
  close_at(other(), std::move(writer->open));
  EXPECT_EQ(counter("open_files"), 0U);
}

// RFC 8881 section 10.2.1: opens that the server has not seen are claimed before DELEGRETURN.
TEST_F(Delegations, LocalOpensAreClaimedBeforeTheReturn) {
  Opened first = open_delegated("file", kBoth);
  auto reader = open_here(first, kRead);
  ASSERT_TRUE(reader);
  auto elsewhere = open_at_other("file", kRead);
  ASSERT_TRUE(elsewhere) << elsewhere.error().message();
  EXPECT_EQ(counter("open_claims"), 1U);
  // The open for both goes: what is left can be brought down to reading alone.
  close_at(mount(), std::move(first.open));
  EXPECT_EQ(counter("open_downgrades"), 1U);
  first.open = std::move(reader->open);
  auto text = read_text(first);
  EXPECT_TRUE(text) << text.error().message();
  close_at(mount(), std::move(first.open));
  close_at(other(), std::move(elsewhere->open));
}

}  // namespace
}  // namespace nfsrdma::client::test
