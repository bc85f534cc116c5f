// READ: what a reply may say (RFC 8881 section 18.22).
#include "client/requests/read.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "client/requests/errno.h"
#include "tests/client/fake_mount.h"

namespace nfsrdma::client::test {
namespace {

using namespace nfs4;

class ReadTest : public FakeMount {
 protected:
  Result<ReadData> read_with(bool eof, std::string_view text) {
    server_.on<READ4args, READ4res>([=](const READ4args&, READ4res& result) {
      result.resok4.eof = eof;
      result.resok4.data.data = std::as_bytes(std::span(text));
    });
    start();
    return run(read(mount(), Credential{}, handle(1), StateRef{}, 0, sink_, 0));
  }

  std::array<std::byte, 100> sink_{};
};

// RFC 8881 section 18.22.3: a short answer that is not the end is a part. Nothing at all is none:
// taken for the end it would cut the file short, asked again it could come for ever.
TEST_F(ReadTest, NeitherDataNorTheEndIsAnError) {
  auto data = read_with(false, "");
  ASSERT_FALSE(data);
  EXPECT_EQ(to_errno(data.error()), EIO);
  EXPECT_NE(data.error().message().find("neither data nor the end"), std::string::npos);
  EXPECT_EQ(server_.executions_of(OP_READ), 1u);
}

// RFC 8881 section 18.22.3: what is behind the bytes that were asked for is not the caller's.
TEST_F(ReadTest, MoreThanWasAskedForIsRefused) {
  const std::string more(sink_.size() + 1, 'x');
  auto data = read_with(true, more);
  ASSERT_FALSE(data);
  EXPECT_EQ(data.error().layer, Layer::decode);
}

TEST_F(ReadTest, NothingAtTheEndIsGood) {
  auto data = read_with(true, "");
  ASSERT_TRUE(data) << data.error().message();
  EXPECT_TRUE(data->eof);
}

TEST_F(ReadTest, APartIsGood) {
  auto data = read_with(false, "part");
  ASSERT_TRUE(data) << data.error().message();
  EXPECT_FALSE(data->eof);
  EXPECT_EQ(data->data.size(), 4u);
}

}  // namespace
}  // namespace nfsrdma::client::test
