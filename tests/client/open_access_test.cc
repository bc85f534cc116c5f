// Rights that OPEN does not prove.
#include "tests/client/open_fixture.h"

namespace nfsrdma::client::test {
namespace {

/// OPEN lets a user read who may only execute (RFC 8881 section 18.16.3 knows one access for both).
class OpenOfExecutable : public OpenTest {
 protected:
  void SetUp() override {
    server_.on<ACCESS4args, ACCESS4res>([this](const ACCESS4args& args, ACCESS4res& result) {
      result.resok4 = {args.access & supported_, args.access & supported_ & rights_};
    });
    start();
  }
  Result<void> try_open(OpenFor use) {
    auto opened = run(open(mount(), {}, handle(1), use));
    if (!opened) return fail_from(opened);
    EXPECT_TRUE(must_close(std::move(opened->open)));
    return {};
  }
  std::uint32_t supported_ = ~0U;
  std::uint32_t rights_ = ACCESS4_EXECUTE;
};

TEST_F(OpenOfExecutable, RunsItAndReadsItNot) {
  EXPECT_TRUE(try_open({kRead, /*executed=*/true}));
  for (const std::uint32_t access : {kRead, kBoth}) {
    const auto opened = try_open(access);
    ASSERT_FALSE(opened);
    EXPECT_TRUE(opened.error().is(Layer::nfs, NFS4ERR_ACCESS)) << opened.error().message();
  }
  EXPECT_TRUE(try_open(kWrite)) << "OPEN alone proves the right to write";
  reactor_.settle();
  EXPECT_EQ(server_.executions_of(OP_CLOSE), 4U);
  EXPECT_EQ(counter("open_files"), 0U);
}

TEST_F(OpenOfExecutable, WhatCanOnlyBeReadIsNotRun) {
  rights_ = ACCESS4_READ;
  EXPECT_TRUE(try_open(kRead));
  EXPECT_FALSE(try_open({kRead, /*executed=*/true}));
}

TEST_F(OpenOfExecutable, AccessThatWasPutOffIsAskedForAlone) {
  server_.fail(OP_ACCESS, NFS4ERR_DELAY, 1);
  EXPECT_FALSE(try_open(kRead));
  EXPECT_EQ(server_.executions_of(OP_OPEN), 1U);
  server_.fail(OP_ACCESS, NFS4ERR_DELAY, 1);
  EXPECT_TRUE(try_open({kRead, /*executed=*/true}));
}

TEST_F(OpenOfExecutable, ARightThatTheServerDoesNotJudgeIsNotRefused) {
  supported_ = 0;
  EXPECT_TRUE(try_open(kRead));
}

TEST_F(OpenOfExecutable, IsReadByItsMaker) {
  const auto made = [this](CreateMode mode) {
    auto opened = run(create(mount(), {}, handle(2), "new", mode, {}, kBoth));
    EXPECT_TRUE(opened) << opened.error().message();
  };
  made(CreateMode::exclusive);
  made(CreateMode::guarded);
  made(CreateMode::unchecked);
}

}  // namespace
}  // namespace nfsrdma::client::test
