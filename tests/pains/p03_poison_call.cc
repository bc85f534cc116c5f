// P3: a reply that is one byte longer than the client's receive buffers. The call that gets it is
// sent twice, and fails; all others survive.
#include "client/requests/create.h"
#include "client/requests/errno.h"
#include "client/requests/getattr.h"
#include "tests/client/mounted.h"
#include "tests/pains/crowd.h"
#include "tests/transport/rdma/harness.h"

namespace nfsrdma::test {
namespace {

constexpr std::size_t kInline = 4096;

class P03_PoisonCall : public ::testing::Test {
 protected:
  /// A reply to message `index` of so many bytes in all.
  Bytes reply_of(std::size_t index, std::size_t bytes) {
    const rdma::Header& header = harness_.reply_header(index);
    Bytes message = encode(header, rpc_reply(header.rdma_xid));
    message.resize(bytes);
    return message;
  }

  Harness harness_;
};

TEST_F(P03_PoisonCall, TheThresholdItselfIsFineAndOneByteMoreIsNot) {
  harness_.connect();
  {
    TestCall call(harness_, 1);
    call.submit();
    harness_.deliver(reply_of(0, kInline));
    EXPECT_TRUE(call.ok());
  }
  TestCall poison(harness_, 2);
  for (int attempt = 1; attempt <= 2; ++attempt) {
    EXPECT_FALSE(poison.call.is_poison());
    const std::size_t index = harness_.peer().sent_count();
    poison.submit();
    harness_.deliver(reply_of(index, kInline + 1));
    ASSERT_EQ(harness_.observer.downs, 1);
    ASSERT_TRUE(poison.done());
    harness_.channel.reset();
    harness_.observer = {};
    harness_.connect();
  }
  EXPECT_TRUE(poison.call.is_poison());
}

}  // namespace
}  // namespace nfsrdma::test

namespace nfsrdma::client::test {
namespace {

// The same with sessions above and a server below: two attempts, EIO, and a mount that lives.
TEST(P03_PoisonCallOverIwarp, FailsTheOneCall) {
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
