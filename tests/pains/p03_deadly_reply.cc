// P3: a reply that is one octet longer than the client's receive buffers. The call that gets it is
// sent twice, and fails; all others survive.
#include "client/ops/create.h"
#include "client/ops/errno.h"
#include "client/ops/getattr.h"
#include "tests/client/mounted.h"
#include "tests/pains/crowd.h"
#include "tests/rdma/harness.h"

namespace nfsrdma::test {
namespace {

constexpr std::size_t kInline = 4096;

class P03_DeadlyReply : public ::testing::Test {
 protected:
  /// A reply to message `index` of so many octets in all.
  Octets reply_of(std::size_t index, std::size_t octets) {
    const rdma::Header& header = harness_.reply_header(index);
    Octets message = encode(header, rpc_reply(header.rdma_xid));
    message.resize(octets);
    return message;
  }

  Harness harness_;
};

TEST_F(P03_DeadlyReply, TheThresholdItselfIsFineAndOneOctetMoreIsNot) {
  harness_.connect();
  {
    TestCall call(harness_, 1);
    call.submit();
    harness_.deliver(reply_of(0, kInline));
    EXPECT_TRUE(call.ok());
  }
  TestCall deadly(harness_, 2);
  for (int attempt = 1; attempt <= 2; ++attempt) {
    EXPECT_FALSE(deadly.call.deadly());
    const std::size_t index = harness_.peer().sent_count();
    deadly.submit();
    harness_.deliver(reply_of(index, kInline + 1));
    ASSERT_EQ(harness_.observer.downs, 1);
    ASSERT_TRUE(deadly.done());
    harness_.channel.reset();
    harness_.observer = {};
    harness_.connect();
  }
  EXPECT_TRUE(deadly.call.deadly());
}

}  // namespace
}  // namespace nfsrdma::test

namespace nfsrdma::client::test {
namespace {

// The same with sessions above and a server below: two attempts, EIO, and a mount that lives.
TEST(P03_DeadlyReplyOverIwarp, FailsTheOneCall) {
  Mounted here;
  ASSERT_TRUE(here.start());
  here.server().command("fault malformed=oversize:op=CREATE");
  Crowd<Attributes> others;
  for (int i = 0; i < 20; ++i) {
    others.add(getattr(here.mount(), here.caller(), here.mount().root()));
  }
  auto made = here.run(make_directory(here.mount(), here.caller(), here.mount().root(), "d", 0755));
  ASSERT_FALSE(made);
  EXPECT_EQ(to_errno(made.error()), EIO);
  here.server().command("clear");
  EXPECT_TRUE(here.run(getattr(here.mount(), here.caller(), here.mount().root())));
  others.expect_success();
  EXPECT_EQ(here.counter("reconnects"), 2U);
  EXPECT_TRUE(here.stop());
}

}  // namespace
}  // namespace nfsrdma::client::test
