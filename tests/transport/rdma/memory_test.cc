// The five invariants of memory and completion, and fencing (RFC 8166 sections 4.4, 8.1).
//
//   I1 a receive buffer belongs to the provider from post to completion
//   I2 a received message in use is not posted again
//   I3 when an RPC completes, every handle it exposed is invalid
//   I4 a request object is reused only when both the RPC and its Send have let go of it
//   I5 a free list never holds an object with work outstanding
#include <gtest/gtest.h>

#include "tests/transport/rdma/harness.h"
#include "transport/rdma/call_context.h"
#include "transport/rdma/receive_pool.h"

namespace nfsrdma::test {
namespace {

class Memory : public testing::Test {
 protected:
  void SetUp() override { harness_.connect(); }

  /// A call with a Read chunk, a Write chunk and a Reply chunk.
  std::unique_ptr<TestCall> call_with_chunks(std::uint32_t xid) {
    auto call = std::make_unique<TestCall>(harness_, xid);
    argument_ = harness_.data->acquire();
    sink_ = harness_.data->acquire();
    call->call.encoder.payload(argument_.first(9000));
    call->call.result_sink = sink_.first(9000);
    call->call.max_reply = 20000;
    return call;
  }
  /// The handles that message `index` exposed.
  std::vector<std::uint32_t> handles(std::size_t index) {
    std::vector<std::uint32_t> all;
    for (auto* lease : harness_.peer().sent(index).leases) all.push_back(lease->segment.handle);
    return all;
  }

  struct Invalidated {
    bool down = false;
    bool answered = false;
  };
  /// What comes of a reply that invalidates the call's one handle.
  static Invalidated invalidate_only_handle(const Harness::Setup& setup) {
    Harness harness(setup);
    harness.connect();
    TestCall call(harness, 5);
    Buffer sink = harness.data->acquire();
    call.call.result_sink = sink.first(9000);
    call.submit();
    const auto handle = harness.peer().sent(0).leases[0]->segment.handle;
    harness.deliver(encode(harness.reply_header(0), rpc_reply(5)), handle);
    return {.down = harness.peer().down(), .answered = call.ok()};
  }

  Harness harness_;
  Buffer argument_;
  Buffer sink_;
};

// V1-4.4.1-1, V1-4.4.1-2, V1-8.1.3-1, V1-8.1.3-2, V1-2.3.2-5, V1-3.4.5-9 (I3): memory stays exposed
// until the reply, and is out of reach when the call ends.
TEST_F(Memory, IsExposedFromSendToReply) {
  auto call = call_with_chunks(5);
  call->submit();
  const auto exposed = handles(0);
  ASSERT_EQ(exposed.size(), 3u);
  for (auto handle : exposed) EXPECT_TRUE(harness_.peer().reachable(handle));
  std::size_t reachable = exposed.size();
  call->on_done = [&] {
    reachable = 0;
    for (auto handle : exposed) reachable += harness_.peer().reachable(handle) ? 1 : 0;
  };
  harness_.answer(0);
  ASSERT_TRUE(call->ok());
  EXPECT_EQ(reachable, 0u);
  EXPECT_EQ(counter(*harness_.channel, "local_invalidations"), 3u);
}

// V1-4.4.1-1, V1-8.1.3-2, V1-4.5-8 (I3): the call ends only when the last invalidation has.
TEST_F(Memory, CallWaitsForTheLastInvalidation) {
  harness_.peer().invalidates_at_once = false;
  auto call = call_with_chunks(5);
  call->submit();
  harness_.answer(0);
  for (int left = 3; left > 0; --left) {
    EXPECT_FALSE(call->done());
    ASSERT_EQ(harness_.peer().invalidating().size(), static_cast<std::size_t>(left));
    harness_.peer().complete_invalidation(static_cast<std::size_t>(left) - 1);
    harness_.settle();
  }
  EXPECT_TRUE(call->ok());
}

// V1-4.5-8: the same for a call that RDMA_ERROR ended.
TEST_F(Memory, ErrorWaitsForTheInvalidationsToo) {
  harness_.peer().invalidates_at_once = false;
  auto call = call_with_chunks(5);
  call->submit();
  rdma::Header& header = harness_.reply_header(0);
  header.proc = rdma::RDMA_ERROR;
  harness_.deliver(encode(header));
  EXPECT_FALSE(call->done());
  for (int left = 3; left > 0; --left) harness_.peer().complete_invalidation(0);
  harness_.settle();
  ASSERT_TRUE(call->done());
  EXPECT_EQ(call->error().layer, Layer::transport);
}

// A call that waits for invalidation has given its credit back already.
TEST_F(Memory, CreditIsFreeBeforeTheInvalidation) {
  harness_.peer().invalidates_at_once = false;
  auto call = call_with_chunks(5);
  call->submit();
  TestCall next(harness_, 6);
  next.submit();
  EXPECT_EQ(harness_.peer().sent_count(), 1u);
  harness_.answer(0);
  EXPECT_FALSE(call->done());
  EXPECT_EQ(harness_.peer().sent_count(), 2u);
  harness_.answer(1);
  EXPECT_TRUE(next.ok());
  for (int i = 0; i < 3; ++i) harness_.peer().complete_invalidation(0);
  harness_.settle();
  EXPECT_TRUE(call->ok());
}

// E-8797-5, XP-3.2-2: a handle that the server invalidated needs no local invalidation; the others
// do.
TEST_F(Memory, RemoteInvalidationSparesOneHandle) {
  harness_.peer().invalidates_at_once = false;
  auto call = call_with_chunks(5);
  call->submit();
  const auto exposed = handles(0);
  const rdma::Header& header = harness_.reply_header(0);
  harness_.deliver(encode(header, rpc_reply(5)), exposed[1]);
  EXPECT_EQ(harness_.peer().invalidating().size(), 2u);
  EXPECT_EQ(counter(*harness_.channel, "remote_invalidations"), 1u);
  EXPECT_EQ(counter(*harness_.channel, "local_invalidations"), 2u);
  harness_.peer().complete_invalidation(0);
  harness_.peer().complete_invalidation(0);
  harness_.settle();
  EXPECT_TRUE(call->ok());
}

// E-8797-5: a handle that is not this call's must not be invalidated.
TEST_F(Memory, InvalidatingAForeignHandleEndsTheConnection) {
  TestCall opener(harness_, 1);
  opener.submit();
  harness_.answer(0);
  auto first = call_with_chunks(5);
  first->submit();
  TestCall second(harness_, 6);
  second.submit();
  harness_.deliver(encode(harness_.reply_header(2), rpc_reply(6)), handles(1)[0]);
  EXPECT_TRUE(harness_.peer().down());
  EXPECT_FALSE(second.ok());
  EXPECT_FALSE(first->ok());
}

// E-8797-5: a call that has handles of its own, and an RDMA_ERROR, are no better.
TEST_F(Memory, InvalidatingAForeignHandleBesideOnesOwnEndsTheConnection) {
  for (const auto procedure : {rdma::RDMA_MSG, rdma::RDMA_ERROR}) {
    Harness harness;
    harness.connect();
    TestCall opener(harness, 1);
    opener.submit();
    harness.answer(0);
    Buffer sink = harness.data->acquire();
    TestCall first(harness, 5);
    TestCall second(harness, 6);
    for (TestCall* call : {&first, &second}) {
      call->call.result_sink = sink.first(9000);
      call->submit();
    }
    const auto foreign = harness.peer().sent(1).leases[0]->segment.handle;
    rdma::Header& header = harness.reply_header(2);
    header.proc = procedure;
    if (procedure == rdma::RDMA_ERROR) header.error.err = rdma::ERR_CHUNK;
    const bool error = procedure == rdma::RDMA_ERROR;
    harness.deliver(encode(header, error ? Bytes{} : rpc_reply(6)), foreign);
    EXPECT_TRUE(harness.peer().down());
    EXPECT_FALSE(second.ok());
    EXPECT_FALSE(first.ok());
  }
}

// E-8797-6: nor any handle when the client has not announced that it may be.
TEST_F(Memory, RemoteInvalidationNotAnnouncedEndsTheConnection) {
  Harness::Setup setup;
  setup.options.remote_invalidation = false;
  const auto invalidated = invalidate_only_handle(setup);
  EXPECT_TRUE(invalidated.down);
  EXPECT_FALSE(invalidated.answered);
}

// E-8797-7: the client's own R bit decides. Linux knfsd invalidates, and leaves its R bit clear.
TEST_F(Memory, AnnouncedRemoteInvalidationStandsServerWithoutIt) {
  Harness::Setup setup;
  setup.server->remote_invalidation = false;
  const auto invalidated = invalidate_only_handle(setup);
  EXPECT_FALSE(invalidated.down);
  EXPECT_TRUE(invalidated.answered);
}

// I4, P6: the reply may come before the Send is done; the call's memory is free after both.
TEST_F(Memory, CallWaitsForItsSend) {
  harness_.peer().sends_complete = false;
  TestCall call(harness_, 5);
  call.submit();
  harness_.answer(0);
  EXPECT_FALSE(call.done());
  EXPECT_EQ(counter(*harness_.channel, "call_contexts_in_use"), 1u);
  harness_.peer().complete_send(0);
  harness_.settle();
  EXPECT_TRUE(call.ok());
  EXPECT_EQ(counter(*harness_.channel, "call_contexts_in_use"), 0u);
}

// I4: a provider that reports no completion for a Call lets go of it when its answer has come.
TEST_F(Memory, AnAnswerEndsTheSendWhereTheProviderSaysSo) {
  harness_.peer().ends_sends_by_answer = true;
  for (std::uint32_t xid = 5; xid < 8; ++xid) {
    TestCall call(harness_, xid);
    call.submit();
    EXPECT_FALSE(harness_.peer().sent(xid - 5).done);
    harness_.answer(xid - 5);
    EXPECT_TRUE(call.ok());
    EXPECT_TRUE(harness_.peer().sent(xid - 5).done);
    EXPECT_EQ(counter(*harness_.channel, "call_contexts_in_use"), 0u);
  }
}

// I4, P6: with Sends that complete long after their replies, and every object reused at once, no
// byte of a Send changes while the provider has it.
TEST_F(Memory, LateSendCompletionsSeeUnchangedMemory) {
  harness_.peer().sends_complete = false;
  constexpr int kCalls = 300;
  int done = 0;
  std::size_t completed = 0;
  for (std::uint32_t xid = 1; xid <= kCalls; ++xid) {
    TestCall call(harness_, xid, 400);
    call.on_done = [&] {
      ++done;
      // What the caller may do from now on.
      std::fill(call.call.head_memory().begin(), call.call.head_memory().end(), std::byte{0xAA});
    };
    call.submit();
    harness_.answer(xid - 1);
    EXPECT_FALSE(call.done());
    harness_.peer().complete_send(completed++);
    harness_.settle();
    EXPECT_TRUE(call.done());
  }
  EXPECT_EQ(done, kCalls);
  EXPECT_EQ(harness_.peer().corrupted_sends(), 0u);
}

// V1-8.1.2-1, I5: handles change with every use.
TEST_F(Memory, HandlesAreNotReused) {
  std::vector<std::uint32_t> seen;
  for (std::uint32_t xid = 1; xid <= 20; ++xid) {
    auto call = call_with_chunks(xid);
    call->submit();
    for (auto handle : handles(xid - 1)) {
      EXPECT_EQ(std::find(seen.begin(), seen.end(), handle), seen.end());
      seen.push_back(handle);
    }
    harness_.answer(xid - 1);
    EXPECT_TRUE(call->ok());
  }
}

// V1-8.1-1: nothing is exposed while nothing is open.
TEST_F(Memory, NothingIsExposedBetweenCalls) {
  auto call = call_with_chunks(5);
  call->submit();
  const auto exposed = handles(0);
  harness_.answer(0);
  for (auto handle : exposed) EXPECT_FALSE(harness_.peer().reachable(handle));
}

// V1-3.4.5-9, I2: a reply that is still read keeps its buffer: it is not posted, and its bytes
// stay.
TEST_F(Memory, HeldReplyIsNotOverwritten) {
  TestCall keeper(harness_, 1);
  keeper.submit();
  harness_.deliver(encode(harness_.reply_header(0), rpc_reply(1, words({0x11223344}))));
  ASSERT_TRUE(keeper.ok());
  for (std::uint32_t xid = 2; xid < 200; ++xid) {
    TestCall other(harness_, xid);
    other.submit();
    harness_.answer(xid - 1);
    EXPECT_TRUE(other.ok());
  }
  EXPECT_EQ(keeper.results().u32("kept"), 0x11223344u);
}

// V1-4.5.4-2: a connection that dies while memory is being invalidated: the call ends after that,
// with the reply it had.
TEST_F(Memory, LossDuringInvalidationEndsTheCallWithItsReply) {
  harness_.peer().invalidates_at_once = false;
  auto call = call_with_chunks(5);
  call->submit();
  harness_.answer(0);
  EXPECT_FALSE(call->done());
  harness_.peer().lose(fabric::Fault::reset);
  harness_.settle();
  EXPECT_TRUE(call->ok());
  EXPECT_EQ(call->call.losses.total, 0u);
}

using MemoryDeathTest = Memory;

std::unique_ptr<rdma::ReceivePool> small_receive_pool() {
  return std::make_unique<rdma::ReceivePool>(std::move(*BufferPool::create(4096, 2)));
}

// I1, I2, I5: the assertions in the receive pool.
TEST(ReceivePoolDeathTest, TransitionsAreAsserted) {
  auto pool = small_receive_pool();
  rdma::Message* message = pool->take();
  message->lend(&pool, 4096);
  EXPECT_DEATH(message->release(), "I1") << "released while the provider has it";
  EXPECT_DEATH(message->lend(&pool, 4096), "I2") << "posted twice";
  message->hold();
  EXPECT_DEATH(message->hold(), "I1") << "received into without being posted";
  EXPECT_DEATH(message->lend(&pool, 4096), "I2") << "posted while it is read";
  EXPECT_DEATH(pool.reset(), "I5") << "destroyed under a reader";
  message->release();
  EXPECT_DEATH(message->release(), "I1") << "released twice";
}

// I3, I4, I5: the assertions in the context pool.
TEST(CallContextDeathTest, OutstandingWorkIsAsserted) {
  VirtualReactor reactor;
  FakeFabric fabric(reactor);
  struct Handler final : fabric::EndpointHandler {
    void on_established(const fabric::ConnectionInfo&) override {}
    void on_receive(fabric::ReceiveBuffer&, std::size_t, std::optional<std::uint32_t>) override {}
    void on_send_done(void*) override {}
    void on_invalidated(fabric::Lease&) override {}
    void on_read_done(void*) override {}
    void on_disconnected(const Error&) override {}
  } handler;
  auto endpoint = std::move(*fabric.connect({}, handler, {}));
  auto memory = std::move(*BufferPool::create(4096, 2));
  rdma::CallContextPool pool(
      1, [&](auto&) { return std::make_unique<rdma::CallContext>(memory->acquire()); });
  rdma::CallContext* context = pool.take();
  ASSERT_NE(context, nullptr);
  EXPECT_EQ(pool.take(), nullptr);

  EXPECT_DEATH(pool.give_back(*context), "I4") << "its Send is not done";
  context->sent = true;
  context->bound_leases = 1;
  EXPECT_DEATH(pool.give_back(*context), "I5") << "a lease is being settled";
  context->bound_leases = 0;
  Bytes exposed(64);
  ASSERT_TRUE(context->leases.expose(*endpoint, exposed, fabric::Access::remote_read, 0));
  EXPECT_DEATH(pool.give_back(*context), "I3") << "a lease is still prepared";
  context->leases.cancel(*endpoint);
  pool.give_back(*context);
  EXPECT_EQ(pool.in_use(), 0u);
}

// Memory for long replies is a pool of the mount: what waits for it is sent when some comes back,
// whatever had it.
TEST(ReplyMemory, ACallThatWaitsForItIsSentWhenSomeComesBack) {
  Harness::Setup setup;
  setup.reply_slots = 1;
  Harness harness(setup);
  harness.connect();
  Buffer elsewhere = harness.replies->acquire();
  TestCall call(harness, 5);
  call.call.max_reply = 20000;
  call.submit();
  harness.settle();
  EXPECT_EQ(harness.peer().sent_count(), 0u);
  elsewhere.reset();
  harness.settle();
  ASSERT_EQ(harness.peer().sent_count(), 1u);
  harness.answer(0);
  EXPECT_TRUE(call.ok());
}

}  // namespace
}  // namespace nfsrdma::test
