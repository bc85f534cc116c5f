// Which provider carries RDMA, by the options and by what the route goes through.
#include "fuse/daemon/provider_choice.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace nfsrdma::fuse {
namespace {

const Result<std::string> kDevice = std::string("mlx5_0");

Result<std::string> no_device() {
  return fail(Error::local(ENODEV, "RDMA device", "this machine has none"));
}

TEST(ProviderChoice, AutomaticFollowsTheRoute) {
  TransportOptions options;
  const auto with = choose_provider(options, kDevice);
  ASSERT_TRUE(with);
  EXPECT_EQ(with->provider, Provider::verbs);
  EXPECT_NE(with->reason.find("mlx5_0"), std::string::npos) << with->reason;
  const auto without = choose_provider(options, no_device());
  ASSERT_TRUE(without);
  EXPECT_EQ(without->provider, Provider::iwarp);
  EXPECT_NE(without->reason.find("this machine has none"), std::string::npos) << without->reason;
}

TEST(ProviderChoice, WhatWasAskedForIsNotReplaced) {
  TransportOptions options;
  options.provider = Provider::verbs;
  EXPECT_EQ(choose_provider(options, no_device()).error().code, ENODEV);
  EXPECT_EQ(choose_provider(options, kDevice)->provider, Provider::verbs);
  options.provider = Provider::iwarp;
  EXPECT_EQ(choose_provider(options, kDevice)->provider, Provider::iwarp);
}

TEST(ProviderChoice, ANamedDeviceMeansVerbs) {
  TransportOptions options;
  options.device = "mlx5_0";
  EXPECT_EQ(choose_provider(options, kDevice)->provider, Provider::verbs);
  EXPECT_FALSE(choose_provider(options, no_device()));
}

TEST(ProviderChoice, AMemoryLimitIsNoReasonToFailWhereIwarpCanBeTried) {
  const auto limit = Error::local(ENOMEM, "register memory with the RDMA device");
  TransportOptions options;
  EXPECT_TRUE(may_fall_back(options, limit));
  EXPECT_FALSE(may_fall_back(options, Error::local(ENODEV, "RDMA device")));
  EXPECT_FALSE(may_fall_back(options, Error::local(ENOMEM, "reserve memory")));
  options.device = "mlx5_0";
  EXPECT_FALSE(may_fall_back(options, limit));
  options.device.clear();
  options.provider = Provider::verbs;
  EXPECT_FALSE(may_fall_back(options, limit));
}

TEST(ProviderChoice, ACaptureNeedsIwarp) {
  TransportOptions options;
  options.capture_file = "/tmp/a.pcapng";
  EXPECT_EQ(choose_provider(options, kDevice)->provider, Provider::iwarp);
}

}  // namespace
}  // namespace nfsrdma::fuse
