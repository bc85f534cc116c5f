// Requests that the server puts off (NFS4ERR_DELAY), while they wait.
#include <gtest/gtest.h>

#include "client/requests/getattr.h"
#include "client/session/session.h"
#include "tests/client/fake_mount.h"

namespace nfsrdma::client::test {
namespace {

/// What the reply lies in may be what others wait for, those of a recovery too.
class ReplyOfARequestThatIsPutOff : public FakeMount,
                                    public ::testing::WithParamInterface<nfs4::nfs_opnum4> {};

TEST_P(ReplyOfARequestThatIsPutOff, IsGivenBackBeforeThePause) {
  start();
  server_.fail(GetParam(), nfs4::NFS4ERR_DELAY);
  Pending asking(getattr(mount(), {}, handle(1)));
  reactor_.settle();
  ASSERT_FALSE(asking.done());
  const Compound* waiting = mount().session().longest_wait().compound;
  ASSERT_TRUE(waiting);
  EXPECT_FALSE(const_cast<Compound*>(waiting)->call().reply);
  reactor_.advance(std::chrono::seconds(1));
  ASSERT_TRUE(asking.done());
  EXPECT_TRUE(asking.value());
}

INSTANTIATE_TEST_SUITE_P(By, ReplyOfARequestThatIsPutOff,
                         ::testing::Values(nfs4::OP_GETATTR, nfs4::OP_SEQUENCE),
                         [](const auto& of) {
                           return of.param == nfs4::OP_SEQUENCE ? "Sequence" : "Operation";
                         });

}  // namespace
}  // namespace nfsrdma::client::test
