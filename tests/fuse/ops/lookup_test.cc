// LOOKUP and FORGET: what the kernel is told of a name, and what it counts.
#include "tests/fuse/ops/kernel_requests.h"

namespace nfsrdma::fuse::test {
namespace {

class LookupRequest : public KernelRequests {};

TEST_F(LookupRequest, TellsWhatIsThereAndForHowLong) {
  server_.write_file("f", "text");
  const fuse_entry_out found = lookup("f");
  EXPECT_NE(found.nodeid, 0U);
  EXPECT_EQ(found.attr.size, 4U);
  EXPECT_TRUE(S_ISREG(found.attr.mode));
  EXPECT_GT(found.entry_valid, 0U);
  EXPECT_GT(found.attr_valid, 0U);
  EXPECT_EQ(lookup("f").nodeid, found.nodeid);
}

TEST_F(LookupRequest, EachAnswerIsForgottenOnce) {
  server_.write_file("f", "");
  const std::uint64_t node = lookup("f").nodeid;
  lookup("f");
  lookup("f");
  forget(node, 2);
  EXPECT_TRUE(known(node));
  forget(node, 1);
  EXPECT_FALSE(known(node));
}

TEST_F(LookupRequest, ManyAreForgottenAtOnce) {
  server_.write_file("a", "");
  server_.write_file("b", "");
  const std::uint64_t a = lookup("a").nodeid;
  const std::uint64_t b = lookup("b").nodeid;
  lookup("b");
  begin(FUSE_BATCH_FORGET, 0, fuse_batch_forget_in{2, 0}, fuse_forget_one{a, 1},
        fuse_forget_one{b, 1});
  EXPECT_FALSE(known(a));
  EXPECT_TRUE(known(b));
  forget(b, 1);
  EXPECT_FALSE(known(b));
}

TEST_F(LookupRequest, ThatANameIsMissingMayBeBelieved) {
  const Answer missing = ask(FUSE_LOOKUP, kRoot, "missing");
  EXPECT_EQ(missing.error, 0);
  EXPECT_EQ(missing.as<fuse_entry_out>().nodeid, 0U);
  EXPECT_GT(missing.as<fuse_entry_out>().entry_valid, 0U);
}

TEST_F(LookupRequest, ErrorsAreTold) {
  server_.fail(nfs4::OP_LOOKUP, nfs4::NFS4ERR_ACCESS);
  EXPECT_EQ(ask(FUSE_LOOKUP, kRoot, "f").error, EACCES);
  EXPECT_EQ(ask(FUSE_LOOKUP, 4711, "f").error, ESTALE);
}

TEST_F(LookupRequest, IsMadeInTheNameOfItsCaller) {
  server_.write_file("f", "");
  std::filesystem::permissions(server_.path("."), std::filesystem::perms(0755));
  kernel_->caller.uid = 4242;
  kernel_->caller.gid = 4243;
  lookup("f");
  EXPECT_EQ(server_.arrivals().back().caller.uid, 4242U);
  EXPECT_EQ(server_.arrivals().back().caller.gid, 4243U);
}

TEST_F(LookupRequest, AnAnswerThatNobodyTakesCountsNothing) {
  server_.write_file("f", "");
  const std::uint64_t node = lookup("f").nodeid;
  kernel_->takes_answers = false;
  begin(FUSE_LOOKUP, kRoot, "f");
  reactor_.settle();
  forget(node, 1);
  EXPECT_FALSE(known(node));
}

}  // namespace
}  // namespace nfsrdma::fuse::test
