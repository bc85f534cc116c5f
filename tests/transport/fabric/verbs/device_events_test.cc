// Asynchronous events of RDMA devices: which users are told. No device is needed. Software devices
// send no DEVICE_FATAL, so that it is told of here.
#include <gtest/gtest.h>

#include <vector>

#include "transport/fabric/verbs/open_device.h"

namespace nfsrdma::fabric::verbs {
namespace {

struct Connection final : DeviceUser {
  ibv_qp* queue_pair() const override { return const_cast<ibv_qp*>(&queues); }
  void on_completions() override {}
  ibv_cq* completion_queue() const override { return const_cast<ibv_cq*>(&completions); }
  void on_queue_event(ibv_event_type type) override { events.push_back(type); }
  void on_device_failed() override {
    ++failures;
    unlink();  // as an endpoint does when it closes
  }
  ibv_qp queues{};
  ibv_cq completions{};
  std::vector<ibv_event_type> events;
  int failures = 0;
};

class DeviceEvents : public ::testing::Test {
 protected:
  DeviceEvents() {
    users_.push_back(one_);
    users_.push_back(other_);
  }
  void tell(ibv_event_type type, Connection* whose = nullptr) {
    ibv_async_event event{};
    event.event_type = type;
    if (whose != nullptr) event.element.qp = whose->queue_pair();
    tell_users(users_, event, "device");
  }
  DeviceUsers users_;
  Connection one_;
  Connection other_;
};

TEST_F(DeviceEvents, AQueuePairsOwnGoToItsConnection) {
  for (const auto type :
       {IBV_EVENT_QP_FATAL, IBV_EVENT_QP_REQ_ERR, IBV_EVENT_QP_ACCESS_ERR, IBV_EVENT_COMM_EST}) {
    tell(type, &other_);
    EXPECT_EQ(other_.events.back(), type);
  }
  EXPECT_TRUE(one_.events.empty());
}

TEST_F(DeviceEvents, ACompletionQueuesErrorGoesToItsConnection) {
  ibv_async_event event{};
  event.event_type = IBV_EVENT_CQ_ERR;
  event.element.cq = other_.completion_queue();
  tell_users(users_, event, "device");
  EXPECT_EQ(other_.events, std::vector{IBV_EVENT_CQ_ERR});
  EXPECT_TRUE(one_.events.empty());
}

TEST_F(DeviceEvents, AFatalErrorEndsEveryConnection) {
  tell(IBV_EVENT_DEVICE_FATAL);
  EXPECT_EQ(one_.failures, 1);
  EXPECT_EQ(other_.failures, 1);
  tell(IBV_EVENT_DEVICE_FATAL);
  EXPECT_EQ(one_.failures, 1) << "it is over";
}

TEST_F(DeviceEvents, APortThatGoesDownEndsNothing) {
  tell(IBV_EVENT_PORT_ERR);
  tell(IBV_EVENT_PORT_ACTIVE);
  tell(IBV_EVENT_GID_CHANGE);
  EXPECT_EQ(one_.failures, 0);
  EXPECT_TRUE(one_.events.empty());
}

}  // namespace
}  // namespace nfsrdma::fabric::verbs
