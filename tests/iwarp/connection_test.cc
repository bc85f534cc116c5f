// Connecting, accepting, rejecting and closing, as fabric.h promises them.
#include "tests/iwarp/fabric_fixture.h"

namespace nfsrdma::fabric::testing {
namespace {

class ConnectionTest : public FabricTest {};

TEST_P(ConnectionTest, BothSidesSeeThePrivateData) {
  const Bytes from_client = pattern(56, 1);
  const Bytes from_server = pattern(100, 2);
  options.private_data = from_client;
  acceptor.options.private_data = from_server;
  connect();
  EXPECT_EQ(acceptor.private_data.back(), from_client);
  EXPECT_EQ(client.peer_private_data, from_server);
}

TEST_P(ConnectionTest, ReadDepthsAreNegotiated) {
  options.ird = 5;
  options.ord = 40;
  acceptor.options.ird = 7;
  connect();
  EXPECT_EQ(client.ird, 5u);
  EXPECT_EQ(client.ord, 7u);
}

INSTANTIATE_TEST_SUITE_P(Providers, ConnectionTest,
                         ::testing::Values(Provider{"iwarp4", make_iwarp_fabric, "127.0.0.1"},
                                           Provider{"iwarp6", make_iwarp_fabric, "::1"}),
                         provider_name);

}  // namespace
}  // namespace nfsrdma::fabric::testing
