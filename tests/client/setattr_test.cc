// SETATTR: what is believed of the attributes that come with it.
#include "client/requests/setattr.h"

#include <gtest/gtest.h>

#include "tests/client/fake_mount.h"

namespace nfsrdma::client::test {
namespace {

using namespace nfs4;

// Attributes that have to be fetched by another request may be of a change that another client has
// made meanwhile: with the change attribute from before the SETATTR it would pass for ours.
TEST_F(FakeMount, AttributesFetchedAfterASetattrAreOfNoKnownChange) {
  start();
  SetAttributes change;
  change.mode = 0600;
  auto together = run(send_setattr(mount(), Credential{}, handle(1), StateRef{}, change));
  ASSERT_TRUE(together) << together.error().message();
  EXPECT_TRUE(together->change_before);
  bool set = false;
  server_.on<SETATTR4args, SETATTR4res>([&](const SETATTR4args&, SETATTR4res&) {
    set = true;
    server_.fail(OP_GETATTR, NFS4ERR_DELAY);
  });
  auto apart = run(send_setattr(mount(), Credential{}, handle(1), StateRef{}, change));
  ASSERT_TRUE(apart) << apart.error().message();
  EXPECT_TRUE(set);
  EXPECT_FALSE(apart->change_before);
}

}  // namespace
}  // namespace nfsrdma::client::test
