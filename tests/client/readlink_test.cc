// READLINK: how its result comes.
#include "client/requests/readlink.h"

#include <gtest/gtest.h>

#include "client/proto/result_sizes.h"
#include "client/requests/errno.h"
#include "tests/client/fake_mount.h"

namespace nfsrdma::client::test {
namespace {

using namespace nfs4;

class ReadLinkTest : public FakeMount {
 protected:
  /// What is read when the server answers this text.
  Result<std::string> read_of(const std::string& text) {
    server_.on<READLINK4args, READLINK4res>([text](const READLINK4args&, READLINK4res& result) {
      result.resok4.link.data = std::as_bytes(std::span(text));
    });
    return run(readlink(mount(), Credential{}, handle(1)));
  }
};

// RFC 8267 section 6.1 allows a Write chunk for the text. The knfsd of Linux 6.1 puts other bytes
// into it, so that there must be none, and room for the whole text in the reply.
TEST_F(ReadLinkTest, TextComesInTheReply) {
  const std::string text(result_size::kLinkText - 1, 't');
  server_.on<READLINK4args, READLINK4res>([&](const READLINK4args&, READLINK4res& result) {
    result.resok4.link.data = std::as_bytes(std::span(text));
  });
  start();
  auto read = run(readlink(mount(), Credential{}, handle(1)));
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(*read, text);
  const auto calls = server_.arrivals_of(OP_READLINK);
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_FALSE(calls[0].result_sink);
  EXPECT_GT(calls[0].max_reply, text.size());
}

// Programs end a path at a zero: they would follow another one than the server has.
TEST_F(ReadLinkTest, TextThatCannotBeAPath) {
  start();
  for (const std::string& text : {std::string(), std::string("a\0b", 3), std::string(1, '\0')}) {
    auto read = read_of(text);
    ASSERT_FALSE(read) << text.size();
    EXPECT_EQ(to_errno(read.error()), EIO);
  }
  auto read = read_of(std::string(result_size::kLinkText, 't'));
  ASSERT_FALSE(read);
  EXPECT_EQ(to_errno(read.error()), ENAMETOOLONG);
  EXPECT_TRUE(read_of("a"));
}

}  // namespace
}  // namespace nfsrdma::client::test
