// What a server says of data and directories is not believed beyond what was asked, and is asked
// again where that can help.
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "client/files/open.h"
#include "client/files/open_files.h"
#include "client/requests/readdir.h"
#include "client/requests/write.h"
#include "tests/client/fake_mount.h"

namespace nfsrdma::client::test {
namespace {

using namespace nfs4;

class DataTest : public FakeMount {
 protected:
  DataTest() {
    server_.on<OPEN4args, OPEN4res>([](const OPEN4args&, OPEN4res& result) {
      result.resok4.stateid = {1, {std::byte{1}}};
    });
    server_.on<WRITE4args, WRITE4res>([this](const WRITE4args& args, WRITE4res& result) {
      result.resok4.count = static_cast<count4>(args.data.data.size() + more_);
      result.resok4.committed = FILE_SYNC4;
    });
    server_.on<READDIR4args, READDIR4res>([this](const READDIR4args& args, READDIR4res& result) {
      asked_for_.push_back(args.maxcount);
      result.status = args.maxcount < needed_ ? NFS4ERR_TOOSMALL : NFS4_OK;
      result.resok4.reply.eof = true;
    });
  }
  Result<Written> write_some() {
    auto opened = run(open(mount(), {}, handle(1), OPEN4_SHARE_ACCESS_WRITE));
    EXPECT_TRUE(opened) << opened.error().message();
    auto written = run(write(mount(), {}, handle(1), opened->open.state(), 0, data_, FILE_SYNC4));
    EXPECT_TRUE(run(mount().opens().close(std::move(opened->open))));
    return written;
  }
  Result<DirectoryPage> list(std::uint32_t max_bytes) {
    return run(readdir(mount(), {}, handle(1), 5, {}, max_bytes, false));
  }

  std::size_t more_ = 0;
  count4 needed_ = 0;
  std::vector<count4> asked_for_;
  std::array<std::byte, 64> data_{};
};

// RFC 8881 section 18.32: the count is of bytes of this request.
TEST_F(DataTest, AWriteOfMoreThanWasAskedIsNotBelieved) {
  start();
  auto written = write_some();
  ASSERT_TRUE(written) << written.error().message();
  EXPECT_EQ(written->count, data_.size());
  more_ = 1;
  written = write_some();
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().layer, Layer::decode);
}

// RFC 8881 section 18.23.3: TOOSMALL is for one entry that is longer than all that was asked for.
TEST_F(DataTest, AnEntryThatDoesNotFitIsAskedForWithMoreRoom) {
  start();
  needed_ = 100'000;
  auto page = list(512);
  ASSERT_TRUE(page) << page.error().message();
  EXPECT_TRUE(page->eof);
  ASSERT_EQ(asked_for_.size(), 2U);
  EXPECT_EQ(asked_for_[0], 512U);
  EXPECT_GE(asked_for_[1], needed_);
  needed_ = UINT32_MAX;
  page = list(512);
  ASSERT_FALSE(page) << "more room there is not";
  EXPECT_TRUE(page.error().is(Layer::nfs, NFS4ERR_TOOSMALL));
  EXPECT_EQ(asked_for_.size(), 4U);
}

}  // namespace
}  // namespace nfsrdma::client::test
