// CREATE: what is asked for.
#include "client/requests/create.h"

#include <gtest/gtest.h>

#include "tests/client/fake_mount.h"

namespace nfsrdma::client::test {
namespace {

using namespace nfs4;

class CreateTest : public FakeMount {};

// A server that is told no mode may show any; NFS-Ganesha's memory back end shows 0600.
TEST_F(CreateTest, SymbolicLinksHaveEveryPermission) {
  std::optional<std::uint32_t> mode;
  server_.on<CREATE4args, CREATE4res>([&](const CREATE4args& args, CREATE4res&) {
    auto attributes = decode_attributes(args.createattrs);
    ASSERT_TRUE(attributes);
    if (attributes->has(FATTR4_MODE)) mode = attributes->mode;
  });
  start();
  (void)run(make_symlink(mount(), Credential{}, handle(1), "link", "target"));
  EXPECT_EQ(mode, 0777U);
}

TEST_F(CreateTest, AnEmptyHandleIsNone) {
  start();
  server_.on<GETFH4args, GETFH4res>(
      [](const GETFH4args&, GETFH4res& result) { result.resok4.object.length = 0; });
  auto made = run(make_directory(mount(), Credential{}, handle(1), "directory", 0755));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().layer, Layer::decode);
}

}  // namespace
}  // namespace nfsrdma::client::test
