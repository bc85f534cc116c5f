// P7: the server is not trusted: whatever its replies say, nothing leaks and the queue of Receives
// stays as deep as it was; sizes are those of the present connection.
#include <gtest/gtest.h>

#include <random>

#include "tests/support/full_size.h"
#include "tests/transport/rdma/harness.h"

namespace nfsrdma::test {
namespace {

class P07_HostileReplies : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kCredits = 8;

  static Harness::Setup setup() {
    Harness::Setup setup;
    setup.options.credits = kCredits;
    setup.options.receive_size = setup.options.send_size = 65536;
    return setup;
  }

  /// A good reply to message `index`, with one to three words changed or its end cut off.
  Bytes spoiled_reply(std::size_t index) {
    rdma::Header& header = harness_.reply_header(index, 1 + random_() % 64);
    if (random_() % 2 == 0 && header.chunks.write_count > 0) {
      header.chunks.write_entries[0].target[0].length = random_() % 10000;
    }
    Bytes message = encode(header, rpc_reply(header.rdma_xid, pattern(random_() % 200)));
    for (unsigned changes = random_() % 4; changes > 0; --changes) spoil_word(message);
    if (random_() % 8 == 0) message.resize(random_() % (message.size() + 1));
    return message;
  }
  void spoil_word(Bytes& message) {
    static constexpr std::uint32_t kWords[] = {0, 1,          2,          3,          4,         5,
                                               9, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFFC};
    const std::size_t place = random_() % (message.size() / 4) * 4;
    const std::uint32_t word =
        random_() % 3 == 0 ? static_cast<std::uint32_t>(random_()) : kWords[random_() % 11];
    for (std::size_t i = 0; i < 4; ++i) {
      message[place + i] = static_cast<std::byte>(word >> (24 - 8 * i));
    }
  }
  void connect() {
    harness_.drop_channel();
    harness_.observer = {};
    harness_.connect();
    callbacks_ = 0;
  }
  /// One call of any form, and one spoiled reply to it.
  void exchange() {
    if (harness_.observer.downs > 0) connect();
    const std::size_t index = harness_.peer().sent_count();
    TestCall call(harness_, ++xid_, kRpcCallHeader + 4 * (random_() % 30));
    Buffer sink = harness_.data->acquire();
    if (random_() % 2 == 0) call.call.result_sink = sink.first(9000);
    if (random_() % 4 == 0) call.call.max_reply = 60000;
    call.submit();
    ASSERT_EQ(harness_.peer().sent_count(), index + 1);
    harness_.deliver(spoiled_reply(index));
    if (harness_.observer.downs > 0) return;
    const std::size_t depth = harness_.peer().receives();
    ASSERT_EQ(counter(*harness_.channel, "receives_posted"), depth);
    // Those for callbacks, and one for each call that is open or may be opened.
    ASSERT_GE(depth, 16U);
    ASSERT_LE(depth, 16U + 2 * kCredits);
    if (!call.done()) harness_.answer(index);
    if (index > 1000) harness_.peer().forget_sent();
  }

  Harness harness_{setup()};
  std::mt19937 random_{7};
  std::uint32_t xid_ = 0;
  int callbacks_ = 0;
};

TEST_F(P07_HostileReplies, LeakNothing) {
  harness_.observer.on_callback = nullptr;
  connect();
  const std::size_t messages = nfsrdma::testing::scaled(50'000, 1'000'000);
  for (std::size_t i = 0; i < messages; ++i) {
    ASSERT_NO_FATAL_FAILURE(exchange()) << "message " << i;
    // Callbacks that a spoiled word has made of replies stay open: their answers are not the point.
    if (harness_.observer.backward_calls > 8) connect();
  }
  harness_.drop_channel();
  EXPECT_EQ(harness_.replies->available(), harness_.replies->slots());
  EXPECT_EQ(harness_.factory->pools().receives->available(),
            harness_.factory->pools().receives->count());
  EXPECT_EQ(harness_.factory->pools().contexts->in_use(), 0U);
}

// Each connection has other sizes: replies as long as it takes arrive, and no connection ends for
// one that fits.
TEST_F(P07_HostileReplies, SizesOfTheConnectionBeforeAreForgotten) {
  for (const std::size_t size : {4096, 1024, 65536, 1024, 4096, 65536}) {
    const auto wire = rdma::encode_private_data({.send_size = size, .receive_size = size});
    harness_.fabric.peer_private_data.assign(wire.begin(), wire.end());
    connect();
    for (int i = 0; i < 20; ++i) {
      TestCall call(harness_, ++xid_);
      const std::size_t index = harness_.peer().sent_count();
      call.submit();
      const rdma::Header& header = harness_.reply_header(index);
      Bytes reply = encode(header, rpc_reply(header.rdma_xid));
      reply.resize(size);
      harness_.deliver(reply);
      ASSERT_TRUE(call.ok()) << size;
    }
    EXPECT_EQ(harness_.observer.downs, 0);
    EXPECT_EQ(counter(*harness_.channel, "inline_from_server"), size);
  }
}

}  // namespace
}  // namespace nfsrdma::test
