// How Calls leave: inline, with chunks, as Long Messages, at and around the inline thresholds.
#include <gtest/gtest.h>
#include <cerrno>

#include "tests/support/unreduced.h"
#include "tests/transport/rdma/harness.h"

namespace nfsrdma::test {
namespace {

using rdma::kMinHeader;
using rdma::RDMA_MSG;
using rdma::RDMA_NOMSG;
using testing_support::unreduced;

constexpr std::size_t kThreshold = 4096;
constexpr std::size_t kReadEntry = rdma::kReadSegmentSize;
constexpr std::size_t kOneSegmentChunk = rdma::kWriteChunkHead + rdma::kSegmentSize;

class MessageForms : public testing::TestWithParam<std::uint32_t> {
 protected:
  explicit MessageForms(const Harness::Setup& setup = {})
      : harness_(Harness::Setup::of_version(GetParam(), setup)) {}
  void SetUp() override { harness_.connect(); }

  std::unique_ptr<Seen> sent(std::size_t index) {
    EXPECT_LT(index, harness_.peer().sent_count());
    return parse(harness_.peer().sent(index).bytes);
  }
  /// Encodes a WRITE-like argument behind what the call has: count word, then the item left out.
  Buffer add_item(TestCall& call, std::size_t bytes, unsigned first = 0) {
    Buffer buffer = harness_.data->acquire();
    const Bytes fill = pattern(bytes, first);
    std::copy(fill.begin(), fill.end(), buffer.data());
    call.call.encoder.payload(buffer.first(bytes));
    return buffer;
  }
  /// What the server gets by reading a Read chunk.
  Bytes fetch(const rdma::Header& header, std::uint32_t position) {
    Bytes all;
    for (const auto& entry : header.chunks.rdma_reads()) {
      if (entry.position != position) continue;
      auto part = harness_.peer().remote_read(entry.target);
      EXPECT_TRUE(part.has_value());
      if (part) all.insert(all.end(), part->begin(), part->end());
    }
    return all;
  }

  Harness harness_;
};

// V1-7.1-1, V1-3.5.1-1, V1-3.2-1, V1-3.2-2, V1-4.2.1-1, V1-4.3.1-2, V1-4.3.2-1, V1-4.2.4-7, V1-9-2
TEST_P(MessageForms, SmallCallIsOneSendOfHeaderAndPayload) {
  TestCall call(harness_, 0x10);
  call.submit();
  ASSERT_EQ(harness_.peer().sent_count(), 1u);
  const Bytes& bytes = harness_.peer().sent(0).bytes;
  ASSERT_EQ(bytes.size(), kMinHeader + kRpcCallHeader);
  const auto seen = sent(0);
  EXPECT_EQ(seen->header.proc, RDMA_MSG);
  EXPECT_EQ(seen->header.rdma_xid, 0x10u);
  EXPECT_TRUE(seen->header.chunks.all_absent());
  EXPECT_EQ(seen->payload, unreduced(call.call.encoder));
  EXPECT_EQ(xdr::Decoder(seen->payload).u32("xid"), 0x10u);
  harness_.answer(0);
  EXPECT_TRUE(call.ok());
}

// V1-3.4.2-1, V1-6.1-3, V1-4.3.1-2: without eligible items there are no chunks, up to the last
// byte of the threshold; one word more makes a Long Call (V1-3.5.3-1, V1-4.2.4-3).
TEST_P(MessageForms, CallAtTheThreshold) {
  for (int delta : {-4, 0, 4}) {
    const std::size_t index = harness_.peer().sent_count();
    TestCall call(harness_, 0x20 + static_cast<unsigned>(delta + 8),
                  kThreshold - kMinHeader + static_cast<std::size_t>(delta));
    call.submit();
    const auto seen = sent(index);
    EXPECT_EQ(seen->header.proc, delta <= 0 ? RDMA_MSG : RDMA_NOMSG) << delta;
    EXPECT_LE(harness_.peer().sent(index).bytes.size(), kThreshold);
    if (delta > 0) {
      ASSERT_EQ(seen->header.chunks.read_count, 1u);
      EXPECT_EQ(seen->header.chunks.read_entries[0].position, 0u);
      EXPECT_TRUE(seen->payload.empty());
      EXPECT_EQ(fetch(seen->header, 0), unreduced(call.call.encoder));
    }
    harness_.answer(index);
    EXPECT_TRUE(call.ok());
  }
}

// V1-3.5.2-1, V1-3.4.5-10, V1-3.4.5-12, V1-3.4.4-3, V1-3.4.4-8, V1-3.4.1-1: an eligible argument
// stays inline, with its pad, as long as everything fits; then it becomes a Read chunk without pad,
// and only its count stays.
TEST_P(MessageForms, WriteAtTheThreshold) {
  const std::size_t inline_limit = kThreshold - kMinHeader - kRpcCallHeader - 4;
  for (int delta = -4; delta <= 4; ++delta) {
    const std::size_t index = harness_.peer().sent_count();
    const std::size_t length = inline_limit + static_cast<std::size_t>(delta);
    TestCall call(harness_, 0x40 + static_cast<unsigned>(delta + 4));
    Buffer data = add_item(call, length);
    call.submit();
    const auto seen = sent(index);
    EXPECT_EQ(seen->header.proc, RDMA_MSG);
    if (xdr::padded(length) <= inline_limit) {
      EXPECT_EQ(seen->header.chunks.read_count, 0u) << delta;
      EXPECT_EQ(seen->payload, unreduced(call.call.encoder)) << delta;
    } else {
      ASSERT_EQ(seen->header.chunks.read_count, 1u) << delta;
      EXPECT_EQ(seen->header.chunks.read_entries[0].position, kRpcCallHeader + 4);
      EXPECT_EQ(fetch(seen->header, kRpcCallHeader + 4), pattern(length)) << delta;
      EXPECT_EQ(seen->payload.size(), kRpcCallHeader + 4);
      xdr::Decoder count(std::span(seen->payload).subspan(kRpcCallHeader));
      EXPECT_EQ(count.u32("count"), length);
    }
    harness_.answer(index);
    EXPECT_TRUE(call.ok());
  }
}

// V1-3.4.4-8, V1-3.4.5-12: what follows a reduced item of five bytes starts right behind its
// count.
TEST_P(MessageForms, ReducedItemTakesItsPadAlong) {
  TestCall call(harness_, 0x50, 4000);
  Buffer data = add_item(call, 101);
  call.call.encoder.u32(0xCAFE);
  call.submit();
  const auto seen = sent(0);
  ASSERT_EQ(seen->header.chunks.read_count, 1u);
  EXPECT_EQ(seen->header.chunks.read_entries[0].target.length, 101u);
  xdr::Decoder rest(std::span(seen->payload).subspan(4000));
  EXPECT_EQ(rest.u32("count"), 101u);
  EXPECT_EQ(rest.u32("next"), 0xCAFEu);
  EXPECT_EQ(rest.remaining(), 0u);
  harness_.answer(0);
}

// V1-3.5.3-8, V1-3.5.3-2, V1-3.4.5-8, E-8267-10: a Position Zero chunk and one other Read chunk in
// one Call; the Position is that in the unreduced stream.
TEST_P(MessageForms, LongCallWithAReadChunk) {
  TestCall call(harness_, 0x60, 8000);
  Buffer data = add_item(call, 9001);
  call.call.encoder.u32(0xCAFE);
  call.submit();
  const auto seen = sent(0);
  EXPECT_EQ(seen->header.proc, RDMA_NOMSG);
  ASSERT_EQ(seen->header.chunks.read_count, 2u);
  EXPECT_EQ(seen->header.chunks.read_entries[0].position, 0u);
  EXPECT_EQ(seen->header.chunks.read_entries[1].position, 8004u);
  const auto encoded = call.call.encoder.encoded();
  EXPECT_EQ(fetch(seen->header, 0), Bytes(encoded.begin(), encoded.end()));
  EXPECT_EQ(fetch(seen->header, 8004), pattern(9001));
  harness_.answer(0);
  EXPECT_TRUE(call.ok());
}

// V1-4.3.3-1, F-22, V1-4.3.2-10, V1-4.3.2-1: the reply estimate counts its header. At the threshold
// no Reply chunk, one word more and there is one, as large as the largest reply.
TEST_P(MessageForms, ReplyChunkAtTheThreshold) {
  for (int delta : {-4, 0, 4}) {
    const std::size_t index = harness_.peer().sent_count();
    TestCall call(harness_, 0x70 + static_cast<unsigned>(delta + 8));
    call.call.max_reply = kThreshold - kMinHeader + static_cast<std::size_t>(delta);
    call.submit();
    const auto seen = sent(index);
    EXPECT_EQ(seen->header.chunks.has_reply, delta > 0) << delta;
    EXPECT_EQ(seen->header.chunks.write_count, 0u);
    if (delta > 0) {
      ASSERT_EQ(seen->header.chunks.rdma_reply.count, 1u);
      EXPECT_EQ(seen->header.chunks.rdma_reply.length(), call.call.max_reply);
    }
    harness_.answer(index);
    EXPECT_TRUE(call.ok());
  }
}

// V1-3.4.6-2, V1-3.4.6-8, V1-4.3.2-3, V1-4.3.2-5: a result that fits inline gets no Write chunk;
// else exactly one, of exactly the result's length, without pad.
TEST_P(MessageForms, WriteChunkAtTheThreshold) {
  const std::size_t overhead = kMinHeader + rpc::kAcceptedReplyHeader;
  for (int delta = -4; delta <= 4; ++delta) {
    const std::size_t index = harness_.peer().sent_count();
    const std::size_t length = kThreshold - overhead + static_cast<std::size_t>(delta);
    TestCall call(harness_, 0x80 + static_cast<unsigned>(delta + 4));
    Buffer sink = harness_.data->acquire();
    call.call.result_sink = sink.first(length);
    call.submit();
    const auto seen = sent(index);
    if (overhead + xdr::padded(length) <= kThreshold) {
      EXPECT_EQ(seen->header.chunks.write_count, 0u) << delta;
    } else {
      ASSERT_EQ(seen->header.chunks.write_count, 1u) << delta;
      EXPECT_EQ(seen->header.chunks.write_entries[0].length(), length);
      EXPECT_FALSE(seen->header.chunks.has_reply);
    }
    harness_.answer(index);
    EXPECT_TRUE(call.ok());
  }
}

// V1-4.3.3-1, F-22, V1-3.5.3-5, V1-4.3.2-12: with a Write chunk the reply's header is larger, and
// that decides whether the rest needs a Reply chunk too.
TEST_P(MessageForms, WriteChunkAndReplyChunkAtTheThreshold) {
  for (int delta : {-4, 0, 4}) {
    const std::size_t index = harness_.peer().sent_count();
    TestCall call(harness_, 0x90 + static_cast<unsigned>(delta + 8));
    Buffer sink = harness_.data->acquire();
    call.call.result_sink = sink.first(10000);
    call.call.max_reply =
        kThreshold - kMinHeader - kOneSegmentChunk + static_cast<std::size_t>(delta);
    call.submit();
    const auto seen = sent(index);
    EXPECT_EQ(seen->header.chunks.write_count, 1u);
    EXPECT_EQ(seen->header.chunks.has_reply, delta > 0) << delta;
    harness_.answer(index);
    EXPECT_TRUE(call.ok());
  }
}

// V1-4.2.4-7, V1-3.3.2-1: the Call's own header grows with the chunks for its reply, and the sum
// stays within the call threshold.
TEST_P(MessageForms, ChunksForTheReplyCountInTheCall) {
  const std::size_t fits = kThreshold - kMinHeader - kOneSegmentChunk;
  for (int delta : {0, 4}) {
    const std::size_t index = harness_.peer().sent_count();
    TestCall call(harness_, 0xA0 + static_cast<unsigned>(delta),
                  fits + static_cast<std::size_t>(delta));
    Buffer sink = harness_.data->acquire();
    call.call.result_sink = sink.first(10000);
    call.submit();
    EXPECT_EQ(sent(index)->header.proc, delta == 0 ? RDMA_MSG : RDMA_NOMSG);
    EXPECT_LE(harness_.peer().sent(index).bytes.size(), kThreshold);
    harness_.answer(index);
  }
}

// V1-8.2.2-6, V1-3.5.3-7, V1-3.5.3-3: long Call and long Reply in one transaction.
TEST_P(MessageForms, PositionZeroChunkAndReplyChunkTogether) {
  TestCall call(harness_, 0xB0, 8000);
  call.call.max_reply = 20000;
  call.submit();
  const auto seen = sent(0);
  EXPECT_EQ(seen->header.proc, RDMA_NOMSG);
  EXPECT_TRUE(seen->header.chunks.has_reply);
  EXPECT_EQ(fetch(seen->header, 0), unreduced(call.call.encoder));
  harness_.answer(0);
  EXPECT_TRUE(call.ok());
}

// V1-3.1-1, V1-3.4.5-5, V1-8.1.3-1, V1-8.1-1: arguments can be read and not written, results
// written and not read, and neither before the Call nor after its reply.
TEST_P(MessageForms, AccessRightsAreTheLeastNeeded) {
  TestCall call(harness_, 0xC0);
  Buffer data = add_item(call, 9000);
  Buffer sink = harness_.data->acquire();
  call.call.result_sink = sink.first(9000);
  call.submit();
  const auto seen = sent(0);
  const fabric::Segment argument = seen->header.chunks.read_entries[0].target;
  const fabric::Segment result = seen->header.chunks.write_entries[0].target[0];
  EXPECT_TRUE(harness_.peer().remote_read(argument));
  EXPECT_FALSE(harness_.peer().remote_write(argument, pattern(4)));
  EXPECT_TRUE(harness_.peer().remote_write(result, pattern(4)));
  EXPECT_FALSE(harness_.peer().remote_read(result));
  harness_.answer(0);
  ASSERT_TRUE(call.ok());
  EXPECT_FALSE(harness_.peer().remote_read(argument));
  EXPECT_FALSE(harness_.peer().remote_write(result, pattern(4)));
}

// E-8267-10, V1-3.5.2-1: by default one Read chunk: of two eligible arguments the larger one is
// reduced and the other stays in the message.
TEST_P(MessageForms, OneReadChunkByDefault) {
  TestCall call(harness_, 0xD0);
  Buffer small = add_item(call, 101);
  Buffer large = add_item(call, 9000, 7);
  call.submit();
  const auto seen = sent(0);
  EXPECT_EQ(seen->header.proc, RDMA_MSG);
  ASSERT_EQ(seen->header.chunks.read_count, 1u);
  // Its Position counts the first item with its pad.
  EXPECT_EQ(seen->header.chunks.read_entries[0].position, kRpcCallHeader + 4 + 104 + 4);
  EXPECT_EQ(seen->payload.size(), kRpcCallHeader + 4 + 104 + 4);
  harness_.answer(0);
}

// V1-3.5.3-6, V1-3.5.3-2: an item that is neither reduced nor fits travels with its pad within the
// Position Zero chunk.
TEST_P(MessageForms, UnreducedItemInAPositionZeroChunk) {
  TestCall call(harness_, 0xE0);
  Buffer first = add_item(call, 5001);
  Buffer second = add_item(call, 9001, 7);
  call.submit();
  const auto seen = sent(0);
  EXPECT_EQ(seen->header.proc, RDMA_NOMSG);
  const Bytes whole = unreduced(call.call.encoder);
  const std::uint32_t position = kRpcCallHeader + 4 + 5004 + 4;
  EXPECT_EQ(fetch(seen->header, 0), Bytes(whole.begin(), whole.begin() + position));
  EXPECT_EQ(fetch(seen->header, position), pattern(9001, 7));
  harness_.answer(0);
}

class ShortSegments : public MessageForms {
 protected:
  ShortSegments() : MessageForms(setup()) {}
  static Harness::Setup setup() {
    Harness::Setup setup;
    setup.options.max_segment_length = 1000;
    return setup;
  }
};

// V1-6.1-2, E-8267-10, V1-4.5.4-1: a Read chunk has at most 16 segments, too.
TEST_P(ShortSegments, AReadChunkOfMoreThanSixteenIsRefused) {
  for (const std::size_t length : {std::size_t{16000}, std::size_t{16001}}) {
    TestCall call(harness_, 0x200 + static_cast<std::uint32_t>(length));
    Buffer data = harness_.data->acquire();
    call.call.encoder.payload(data.first(length));
    call.submit();
    harness_.settle();
    EXPECT_EQ(call.done(), length > 16000) << length;
    EXPECT_EQ(harness_.peer().sent_count(), 1u) << length;
    if (call.done()) {
      EXPECT_TRUE(call.error().is(Layer::transport, static_cast<int>(rdma::Fault::call_too_large)));
    } else {
      EXPECT_EQ(parse(harness_.peer().sent(0).bytes)->header.chunks.read_count, 16u);
      harness_.answer(0);
    }
  }
}

// So does the Position Zero chunk of a long Call.
TEST_P(ShortSegments, ALongCallOfMoreThanSixteenIsRefused) {
  TestCall fits(harness_, 0x300, 15000);
  fits.submit();
  harness_.settle();
  ASSERT_EQ(harness_.peer().sent_count(), 1u);
  EXPECT_EQ(parse(harness_.peer().sent(0).bytes)->header.chunks.read_count, 15u);
  harness_.answer(0);
  TestCall call(harness_, 0x301, 17000);
  call.submit();
  harness_.settle();
  EXPECT_EQ(harness_.peer().sent_count(), 1u);
  ASSERT_TRUE(call.done());
  EXPECT_TRUE(call.error().is(Layer::transport, static_cast<int>(rdma::Fault::call_too_large)));
}

class ManyChunks : public MessageForms {
 protected:
  ManyChunks() : MessageForms(setup()) {}
  static Harness::Setup setup() {
    Harness::Setup setup;
    setup.options.max_read_chunks = 4;
    setup.options.max_segment_length = 3001;
    return setup;
  }
};

// V1-3.4.5-2, V1-3.4.4-7, V1-4.3.1-1, V1-3.4.4-1, V1-3.4.5-4, V1-3.4.5-6: two reduced items have
// two Positions, the second counting length and pad of the first; the odd segments of one chunk
// share its Position.
TEST_P(ManyChunks, TwoReducedItemsInSeveralSegments) {
  TestCall call(harness_, 0xF0);
  Buffer first = add_item(call, 9001);
  Buffer second = add_item(call, 4002);
  call.submit();
  const auto seen = sent(0);
  const std::uint32_t at_first = kRpcCallHeader + 4;
  const std::uint32_t at_second = at_first + 9004 + 4;
  ASSERT_EQ(seen->header.chunks.read_count, 5u);
  EXPECT_EQ(seen->header.chunks.read_chunk_length(at_first), 9001u);
  EXPECT_EQ(seen->header.chunks.read_chunk_length(at_second), 4002u);
  EXPECT_EQ(seen->header.chunks.read_entries[0].target.length, 3001u);
  EXPECT_EQ(fetch(seen->header, at_first), pattern(9001));
  EXPECT_EQ(fetch(seen->header, at_second), pattern(4002));
  harness_.answer(0);
  EXPECT_TRUE(call.ok());
}

// V1-6.1-2, E-8267-10, V1-3.5.3-9, V1-4.5.4-1: a chunk that would need more than 16 segments cannot
// be sent; the call fails at once, nothing is exposed and no credit is used.
TEST_P(ManyChunks, TooManySegmentsFailTheCallAtOnce) {
  TestCall call(harness_, 0x100);
  Buffer sink = harness_.data->acquire();
  call.call.result_sink = sink.first(3001 * 16 + 1);
  call.submit();
  EXPECT_FALSE(call.done()) << "never ends within submit()";
  harness_.settle();
  ASSERT_TRUE(call.done());
  EXPECT_TRUE(call.error().is(Layer::transport, static_cast<int>(rdma::Fault::call_too_large)));
  EXPECT_EQ(harness_.peer().sent_count(), 0u);
  EXPECT_EQ(counter(*harness_.channel, "calls_in_flight"), 0u);
}

// V1-6.3-1, V1-3.3.3-2, V1-3.3.3-4, V1-3.3.2-2, E-8797-8: without private data both thresholds are
// 1024, also for the first Call.
TEST(DefaultThresholds, WithoutPrivateData) {
  Harness::Setup setup;
  setup.server.reset();
  Harness harness(setup);
  harness.connect();
  EXPECT_EQ(harness.channel->limits().max_backward_reply, 1024u - rdma::kMinHeader);
  EXPECT_EQ(harness.channel->limits().max_backward_call, 1024u - rdma::kMinHeader);
  TestCall call(harness, 1, 1024 - kMinHeader + 4);
  call.call.max_reply = 1024 - kMinHeader + 4;
  call.submit();
  const auto seen = parse(harness.peer().sent(0).bytes);
  EXPECT_EQ(seen->header.proc, RDMA_NOMSG);
  EXPECT_TRUE(seen->header.chunks.has_reply);
  EXPECT_LE(harness.peer().sent(0).bytes.size(), 1024u);
  harness.answer(0);
  EXPECT_TRUE(call.ok());
}

// V1-3.3.2-1, E-8797-3, V1-6.3-1: asymmetric sizes give two different limits.
TEST(DefaultThresholds, AsymmetricPrivateData) {
  Harness::Setup setup;
  setup.server = rdma::PrivateData{.send_size = 2048, .receive_size = 3072};
  setup.options.send_size = 65536;
  setup.options.receive_size = 65536;
  Harness harness(setup);
  harness.connect();
  EXPECT_EQ(harness.channel->limits().max_backward_reply, 3072u - rdma::kMinHeader);
  EXPECT_EQ(harness.channel->limits().max_backward_call, 2048u - rdma::kMinHeader);
}

// Calls may be large, and their data lie elsewhere; answers to callbacks need memory of their own.
TEST(DefaultThresholds, AnswersToCallbacksStaySmall) {
  Harness::Setup setup;
  setup.server = rdma::PrivateData{.send_size = 4096, .receive_size = 65536};
  setup.options.send_size = 65536;
  Harness harness(setup);
  harness.connect();
  EXPECT_EQ(counter(*harness.channel, "inline_to_server"), 65536u);
  EXPECT_EQ(harness.channel->limits().max_backward_reply,
            rdma::kMaxBackwardReply - rdma::kMinHeader);
}

// E-8797-7: R is announced only where the provider makes it safe for every handle.
TEST(DefaultThresholds, RemoteInvalidationOnlyWhereSafe) {
  for (bool safe : {false, true}) {
    Harness harness;
    harness.fabric.remote_invalidation = safe;
    harness.connect();
    EXPECT_EQ(rdma::decode_private_data(harness.peer().private_data()).remote_invalidation, safe);
    EXPECT_EQ(harness.peer().private_data().size(), rdma::kPrivateDataSize);
  }
}

// V1-4.5.4-1: memory that cannot be registered fails the call at once; no credit is used.
TEST_P(MessageForms, FailedRegistrationFailsTheCallAtOnce) {
  TestCall call(harness_, 0x110);
  Buffer data = add_item(call, 9000);
  Buffer sink = harness_.data->acquire();
  call.call.result_sink = sink.first(9000);
  harness_.peer().prepares_before_failure = 1;
  call.submit();
  harness_.settle();
  ASSERT_TRUE(call.done());
  EXPECT_FALSE(call.ok());
  EXPECT_EQ(counter(*harness_.channel, "calls_in_flight"), 0u);
  EXPECT_EQ(counter(*harness_.channel, "call_contexts_in_use"), 0u);
  EXPECT_EQ(harness_.observer.closings, 0);
}

// It is tried again later (Layer::fabric). An error of the system would be the program's, although
// the server has not been asked.
TEST_P(MessageForms, FailedRegistrationIsAnErrorOfTheConnection) {
  TestCall call(harness_, 0x110);
  Buffer sink = harness_.data->acquire();
  call.call.result_sink = sink.first(9000);
  harness_.peer().prepares_before_failure = 0;
  harness_.peer().prepare_error = Error::from_errno(ENOMEM, "ibv_alloc_mw");
  call.submit();
  harness_.settle();
  ASSERT_TRUE(call.done());
  EXPECT_EQ(call.error().layer, Layer::fabric) << call.error().message();
  EXPECT_EQ(harness_.observer.closings, 0);
}

// V1-6.2-1, E-8267-4: a reply that could be larger than the memory for Reply chunks is not asked
// for.
TEST_P(MessageForms, ReplyLargerThanTheReplyPoolFails) {
  TestCall call(harness_, 0x120);
  call.call.max_reply = harness_.replies->slot_size() + 1;
  call.submit();
  harness_.settle();
  ASSERT_TRUE(call.done());
  EXPECT_TRUE(call.error().is(Layer::transport, static_cast<int>(rdma::Fault::reply_too_large)));
}

// V1-6.2-1: a Reply chunk is set aside before the Call; without memory for it the Call waits.
TEST(ReplyChunkMemory, CallWaitsForASlot) {
  Harness::Setup setup;
  setup.reply_slots = 1;
  Harness harness(setup);
  harness.connect();
  TestCall opener(harness, 1);
  opener.submit();
  harness.answer(0);
  TestCall first(harness, 2);
  TestCall second(harness, 3);
  first.call.max_reply = second.call.max_reply = 20000;
  first.submit();
  second.submit();
  EXPECT_EQ(harness.peer().sent_count(), 2u);
  EXPECT_EQ(counter(*harness.channel, "queue_waits"), 1u);
  harness.answer(1);
  EXPECT_TRUE(first.ok());
  EXPECT_EQ(harness.peer().sent_count(), 3u);
  harness.answer(2);
  EXPECT_TRUE(second.ok());
}

// One post for each RPC however many chunks it has, and no copy of payload.
TEST_P(MessageForms, OnePostForEachCall) {
  TestCall call(harness_, 0x130, 8000);
  Buffer data = add_item(call, 9000);
  Buffer sink = harness_.data->acquire();
  call.call.result_sink = sink.first(9000);
  call.call.max_reply = 20000;
  const std::uint64_t posts = counter(*harness_.channel, "posts");
  call.submit();
  EXPECT_EQ(harness_.peer().sent(0).leases.size(), 4u);
  harness_.answer(0);
  EXPECT_TRUE(call.ok());
  EXPECT_EQ(counter(*harness_.channel, "posts"), posts + 1);
  EXPECT_EQ(counter(*harness_.channel, "payload_copies"), 0u);
  EXPECT_EQ(counter(*harness_.channel, "leases"), 4u);
}

// V2-2.1-2, V2-2.3-1, V2-2.3-2, V2-4.2-1: the forms of version 2, whose thresholds are 4096 bytes
// where nothing else is known, are those of version 1.
INSTANTIATE_TEST_SUITE_P(Versions, MessageForms, testing::Values(1U, 2U));
INSTANTIATE_TEST_SUITE_P(Versions, ShortSegments, testing::Values(1U, 2U));
INSTANTIATE_TEST_SUITE_P(Versions, ManyChunks, testing::Values(1U, 2U));

}  // namespace
}  // namespace nfsrdma::test
