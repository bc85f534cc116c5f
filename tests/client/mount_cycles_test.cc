// A thousand mounts of one server, one after the other, over real connections: what is there after
// them is what was there before.
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <filesystem>

#include "client/requests/getattr.h"
#include "tests/client/mounted.h"
#include "tests/support/counter_of.h"
#include "transport/base/log.h"
#include "transport/rdma/channel_factory.h"

namespace nfsrdma::client::test {
namespace {

constexpr std::uint32_t kSlots = 8;
constexpr std::size_t kDataBytes = 65536;

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator descriptors("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(descriptors), end(descriptors)));
}

class MountCycles : public ::testing::Test {
 protected:
  MountCycles()
      : reactor_(make_epoll_reactor()),
        messages_(*BufferPool::create(Mount::kMessageSlotBytes, Mount::message_slots(kSlots))),
        reply_chunks_(*BufferPool::create(kDataBytes, kSlots)),
        fabric_(fabric::make_iwarp_fabric(*reactor_)) {
    log::set_level(log::Level::error);
    EXPECT_TRUE(fabric_->register_pool(*messages_));
    channels_ = std::move(
        *rdma::ChannelFactory::create(*reactor_, *fabric_, server_.address(), {}, *reply_chunks_));
  }

  /// Mounts, asks for something, unmounts.
  void cycle() {
    MountConfig config;
    config.export_path = "/";
    config.max_slots = kSlots;
    Mount mount(*reactor_, *channels_, std::move(config), *messages_);
    auto started = run_task(*reactor_, mount.start());
    ASSERT_TRUE(started) << started.error().message();
    auto attributes = run_task(*reactor_, getattr(mount, {}, mount.root()));
    EXPECT_TRUE(attributes) << attributes.error().message();
    EXPECT_EQ(testing::counter_of(mount, "session_slots_in_use"), 0U);
    auto stopped = run_task(*reactor_, mount.stop());
    ASSERT_TRUE(stopped) << stopped.error().message();
  }
  void settle() {
    while (reactor_->run_once(Duration::zero())) {
    }
  }
  /// The server's thread learns of the end of connections on its own; this waits for it.
  void wait_for_no_connection() {
    constexpr int kMostQuestions = 100000;
    for (int i = 0; i < kMostQuestions; ++i) {
      if (server_.counter("disconnections") == server_.counter("connections")) return;
    }
    ADD_FAILURE() << "connections stay open at the server";
  }

  responder::TestResponder server_;
  std::unique_ptr<Reactor> reactor_;
  std::unique_ptr<BufferPool> messages_;
  std::unique_ptr<BufferPool> reply_chunks_;
  std::unique_ptr<fabric::Fabric> fabric_;
  std::unique_ptr<rpc::ChannelFactory> channels_;
};

TEST_F(MountCycles, AThousandLeaveNothingBehind) {
  constexpr int kWarm = 20;
  constexpr int kCycles = 1000;
  for (int i = 0; i < kWarm; ++i) cycle();
  settle();
  wait_for_no_connection();
  const std::size_t messages = messages_->available();
  const std::size_t reply_chunks = reply_chunks_->available();
  const std::size_t descriptors = open_descriptors();
  const std::size_t heap = ::mallinfo2().uordblks;
  for (int i = 0; i < kCycles && !HasFatalFailure(); ++i) cycle();
  settle();
  wait_for_no_connection();
  EXPECT_EQ(messages_->available(), messages);
  EXPECT_EQ(reply_chunks_->available(), reply_chunks);
  EXPECT_EQ(open_descriptors(), descriptors);
  // Less than eight bytes a mount: nothing that belongs to one of them.
  EXPECT_LE(::mallinfo2().uordblks, heap + 8 * kCycles);
  EXPECT_EQ(server_.counter("nfs.clients"), 0U);
  EXPECT_EQ(server_.counter("nfs.sessions"), 0U);
  EXPECT_EQ(server_.counter("nfs.states"), 0U);
}

}  // namespace
}  // namespace nfsrdma::client::test
