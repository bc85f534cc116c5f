// Leases and RDMA Reads in the middle of things, seen from a raw socket.
#include "tests/transport/fabric/iwarp/hostile_fixture.h"

namespace nfsrdma::fabric::testing {
namespace {

using wire::Segment;

class ExposureTest : public HostileTest {
 protected:
  Bytes write_frame(std::size_t offset, Bytes payload) {
    return wire::write(write_lease.segment.handle, write_lease.segment.offset + offset,
                       std::move(payload));
  }
};

TEST_F(ExposureTest, WritesLandExactlyWhereTheySay) {
  open_with_leases();
  const Bytes data = pattern(1000, 3);
  peer.send(write_frame(kLeased - 1000, data));
  peer.send(write_frame(0, pattern(1, 4)));
  peer.send(wire::send(next_msn++, bytes_of("done")));
  ASSERT_TRUE(loop.until([&] { return server().messages.size() == 2; }));
  const auto memory = writable.memory();
  EXPECT_TRUE(std::equal(data.begin(), data.end(), memory.end() - 1000));
  EXPECT_EQ(memory[0], pattern(1, 4)[0]);
  const Bytes original = pattern(kLeased + 8192, 0);
  EXPECT_TRUE(std::equal(memory.begin() + 1, memory.end() - 1000, original.begin() + 4097));
  EXPECT_TRUE(writable.canaries_intact());
  EXPECT_EQ(server().counter("write_bytes_placed"), 1001u);
}

// What was placed without a gap is known, whatever the order of the Writes, also after the peer has
// invalidated the STag.
TEST_F(ExposureTest, ProviderTellsHowMuchWasPlaced) {
  open_with_leases();
  const auto placed = [&] { return server().endpoint->placed(write_lease); };
  EXPECT_EQ(placed(), 0u);
  peer.send(write_frame(100, pattern(100)));
  peer.send(wire::send(next_msn++, bytes_of("a gap")));
  ASSERT_TRUE(loop.until([&] { return server().messages.size() == 2; }));
  EXPECT_EQ(placed(), 0u);
  peer.send(write_frame(0, pattern(60)));
  peer.send(write_frame(0, pattern(60)));
  peer.send(wire::send(next_msn++, bytes_of("a smaller gap")));
  ASSERT_TRUE(loop.until([&] { return server().messages.size() == 3; }));
  EXPECT_EQ(placed(), 60u) << "the same bytes twice are no more of them";
  peer.send(write_frame(60, pattern(40)));
  Segment last{.opcode = wire::kSendInvalidate, .msn = next_msn++};
  last.invalidate = write_lease.segment.handle;
  last.payload = bytes_of("done");
  peer.send(wire::fpdu(last));
  ASSERT_TRUE(loop.until([&] { return server().messages.size() == 4; }));
  EXPECT_EQ(placed(), 200u);
}

// What was placed for one lease says nothing about the next one in the same entry of the table.
TEST_F(ExposureTest, EachLeaseBeginsWithNothingPlaced) {
  open_with_leases();
  peer.send(write_frame(0, pattern(100)));
  peer.send(wire::send(next_msn++, bytes_of("done")));
  ASSERT_TRUE(loop.until([&] { return server().messages.size() == 2; }));
  ASSERT_TRUE(server().endpoint->invalidate(write_lease));
  for (int i = 0; i < 300; ++i) {  // more than there are entries
    ASSERT_TRUE(server().endpoint->prepare(write_lease, writable.memory(), Access::remote_write));
    ASSERT_EQ(server().endpoint->placed(write_lease), 0u);
    server().endpoint->cancel(write_lease);
  }
}

TEST_F(ExposureTest, AWriteOfNoBytesNeedsNoStag) {
  open_with_leases();
  peer.send(wire::write(0xdeadbeef, ~0ull, {}));
  peer.send(wire::send(next_msn++, bytes_of("alive")));
  ASSERT_TRUE(loop.until([&] { return server().messages.size() == 2; }));
  EXPECT_TRUE(writable.untouched());
}

// V1-8.1.3-1: no access begins after invalidate(), one that has begun is waited for.
TEST_F(ExposureTest, SettlingWaitsForTheWriteThatIsComingIn) {
  open_with_leases();
  const Bytes frame = write_frame(0, pattern(4000, 6));
  const auto middle = frame.begin() + 2000;
  peer.send(Bytes(frame.begin(), middle));
  const std::uint64_t before = server().counter("bytes_received");
  ASSERT_TRUE(loop.until([&] { return server().counter("bytes_received") >= before; }));
  loop.settle();
  EXPECT_FALSE(server().endpoint->invalidate(write_lease));
  EXPECT_EQ(write_lease.state, LeaseState::invalidating);
  loop.settle();
  EXPECT_TRUE(server().invalidated.empty());
  peer.send(Bytes(middle, frame.end()));
  ASSERT_TRUE(loop.until([&] { return !server().invalidated.empty(); }));
  EXPECT_EQ(server().invalidated[0], &write_lease);
  EXPECT_EQ(write_lease.state, LeaseState::free);
  EXPECT_FALSE(server().down);
}

TEST_F(ExposureTest, SettlingWaitsForTheReadResponseThatIsGoingOut) {
  // More than socket buffers hold, so that the response is certainly not written at once.
  constexpr std::size_t size = 8 << 20;
  peer.small_receive_buffer = true;
  Guarded large(size, 11);
  Lease lease;
  open();
  ASSERT_TRUE(server().endpoint->prepare(lease, large.memory(), Access::remote_read));
  Lease* const leases[] = {&lease};
  const Bytes call = bytes_of("read it");
  ASSERT_TRUE(server().send(call, leases));
  peer.receive_fpdus(1);
  peer.send(wire::read_request(1, {9, 0x100, size, lease.segment.handle, lease.segment.offset}));
  ASSERT_TRUE(loop.until([&] { return server().counter("read_bytes_served") != 0; }));
  EXPECT_FALSE(server().endpoint->invalidate(lease));
  loop.settle();
  EXPECT_TRUE(server().invalidated.empty());
  EXPECT_EQ(lease.state, LeaseState::invalidating);
  peer.fpdus.clear();
  std::size_t got = 0;
  while (got < size) {
    peer.receive_fpdus(1);
    for (const auto& each : peer.fpdus) {
      ASSERT_TRUE(each.crc_right);
      ASSERT_TRUE(std::equal(each.payload.begin(), each.payload.end(),
                             large.memory().begin() + static_cast<std::ptrdiff_t>(got)));
      got += each.payload.size();
    }
    peer.fpdus.clear();
  }
  ASSERT_TRUE(loop.until([&] { return !server().invalidated.empty(); }));
  EXPECT_EQ(lease.state, LeaseState::free);
}

TEST_F(ExposureTest, ReadResponsesCarryTheSinkTheRequestNamed) {
  open_with_leases();
  peer.send(wire::read_request(
      1, {0x1234, 0x5000, 100, read_lease.segment.handle, read_lease.segment.offset + 10}));
  peer.receive_fpdus(1);
  const wire::Parsed& response = peer.fpdus.back();
  EXPECT_TRUE(response.tagged && response.last && response.crc_right);
  EXPECT_EQ(response.opcode, wire::kReadResponse);
  EXPECT_EQ(response.stag, 0x1234u);
  EXPECT_EQ(response.to, 0x5000u);
  const auto memory = readable.memory().subspan(10, 100);
  EXPECT_EQ(response.payload, Bytes(memory.begin(), memory.end()));
}

TEST_F(ExposureTest, SeveralReadsAreAnsweredInOrderUpToTheIrd) {
  acceptor.options.ird = 4;
  open_with_leases();
  Bytes requests;
  for (std::uint32_t i = 0; i < 4; ++i) {
    requests = wire::join(
        {requests, wire::read_request(i + 1, {i, 0, 8 * (i + 1), read_lease.segment.handle,
                                              read_lease.segment.offset})});
  }
  peer.send(requests);
  peer.receive_fpdus(4);
  for (std::uint32_t i = 0; i < 4; ++i) {
    EXPECT_EQ(peer.fpdus[1 + i].stag, i);
    EXPECT_EQ(peer.fpdus[1 + i].payload.size(), 8 * (i + 1));
  }
  // Their places are free again.
  peer.send(wire::read_request(5, {9, 0, 8, read_lease.segment.handle, read_lease.segment.offset}));
  peer.receive_fpdus(1);
}

TEST_F(ExposureTest, OneReadMoreThanTheIrdIsAViolation) {
  acceptor.options.ird = 2;
  open_with_leases();
  // All in one TCP segment: they are read before any answer can go out.
  Bytes requests;
  for (std::uint32_t i = 1; i <= 3; ++i) {
    requests = wire::join({requests, wire::read_request(i, {1, 0, 8, read_lease.segment.handle,
                                                            read_lease.segment.offset})});
  }
  peer.send(requests);
  expect_terminated(0x1202, Fault::protocol, "more than 2 RDMA Reads at once");
}

/// The provider reads from the raw peer.
class ReadingTest : public ExposureTest {
 protected:
  /// Posts a Read of `size` bytes into writable and returns the request the peer sees.
  wire::Parsed start_read(std::uint32_t size) {
    EXPECT_TRUE(server().endpoint->post_read(writable.memory(), {0xabcd, size, 0x9000}, &size_));
    peer.receive_fpdus(1);
    return peer.fpdus.back();
  }
  Segment response(const wire::Parsed& request, std::size_t size) {
    Segment segment;
    segment.tagged = true;
    segment.opcode = wire::kReadResponse;
    segment.stag = wire::be32(request.payload);
    segment.to = wire::be64(std::span(request.payload).subspan(4));
    segment.payload = pattern(size, 12);
    return segment;
  }
  int size_ = 0;
};

TEST_F(ReadingTest, TheRequestIsWellFormed) {
  open();
  const wire::Parsed request = start_read(500);
  EXPECT_EQ(request.opcode, wire::kReadRequest);
  EXPECT_EQ(request.qn, 1u);
  EXPECT_EQ(request.msn, 1u);
  EXPECT_EQ(request.mo, 0u);
  ASSERT_EQ(request.payload.size(), 28u);
  EXPECT_EQ(wire::be32(std::span(request.payload).subspan(12)), 500u);
  EXPECT_EQ(wire::be32(std::span(request.payload).subspan(16)), 0xabcdu);
  EXPECT_EQ(wire::be64(std::span(request.payload).subspan(20)), 0x9000u);
}

TEST_F(ReadingTest, AResponseInSegmentsIsPlaced) {
  open();
  const wire::Parsed request = start_read(500);
  Segment segment = response(request, 500);
  const Bytes whole = segment.payload;
  segment.payload.resize(123);
  segment.last = false;
  peer.send(wire::fpdu(segment));
  segment.payload.assign(whole.begin() + 123, whole.end());
  segment.to += 123;
  segment.last = true;
  peer.send(wire::fpdu(segment));
  ASSERT_TRUE(loop.until([&] { return !server().reads_done.empty(); }));
  EXPECT_TRUE(std::equal(whole.begin(), whole.end(), writable.memory().begin()));
  EXPECT_TRUE(writable.canaries_intact());
}

TEST_F(ReadingTest, AResponseToAnotherSinkIsAViolation) {
  open();
  Segment segment = response(start_read(500), 500);
  segment.stag ^= 1;
  peer.send(wire::fpdu(segment));
  peer.receive_end();
  EXPECT_EQ(peer.terminate(), 0x1100u);
  EXPECT_TRUE(writable.untouched());
}

TEST_F(ReadingTest, AResponseThatIsTooLongIsAViolation) {
  open();
  peer.send(wire::fpdu(response(start_read(500), 501)));
  peer.receive_end();
  EXPECT_EQ(peer.terminate(), 0x1101u);
  EXPECT_TRUE(writable.untouched());
}

TEST_F(ReadingTest, AResponseWithAGapIsAViolation) {
  open();
  Segment segment = response(start_read(500), 400);
  segment.to += 100;
  peer.send(wire::fpdu(segment));
  peer.receive_end();
  EXPECT_EQ(peer.terminate(), 0x1101u);
  EXPECT_TRUE(writable.untouched());
}

TEST_F(ReadingTest, AResponseThatEndsEarlyIsAViolation) {
  open();
  peer.send(wire::fpdu(response(start_read(500), 499)));
  peer.receive_end();
  EXPECT_EQ(peer.terminate(), 0x02ffu);
  peer.close();
  ASSERT_TRUE(loop.until([&] { return server().down.has_value(); }));
  EXPECT_NE(server().down->detail.find("ended after 499 of 500 bytes"), std::string::npos);
  EXPECT_TRUE(server().reads_done.empty());
}

TEST_F(ReadingTest, ReadsBeyondTheOrdWaitAndCompleteInOrder) {
  acceptor.options.ord = 2;
  open();
  int contexts[5];
  Bytes into(500);
  for (std::size_t i = 0; i < 5; ++i) {
    ASSERT_TRUE(server().endpoint->post_read(std::span(into).subspan(i * 100, 100),
                                             {1, 100, 100 * i}, &contexts[i]));
  }
  const Bytes data = pattern(500, 13);
  for (std::size_t i = 0; i < 5; ++i) {
    // Never more than two are outstanding.
    peer.receive_fpdus(i == 0 ? 2 : (i < 4 ? 1 : 0));
    loop.settle();
    EXPECT_EQ(server().counter("fpdus_sent"), std::min<std::size_t>(i + 2, 5));
    Segment segment = response(peer.fpdus[i], 0);
    segment.payload.assign(data.begin() + static_cast<std::ptrdiff_t>(i * 100),
                           data.begin() + static_cast<std::ptrdiff_t>(i * 100 + 100));
    peer.send(wire::fpdu(segment));
    ASSERT_TRUE(loop.until([&] { return server().reads_done.size() == i + 1; }));
    EXPECT_EQ(server().reads_done[i], &contexts[i]);
  }
  EXPECT_EQ(into, data);
}

// I4: the reply may come before the Send it answers is complete on this side.
TEST_F(ExposureTest, AReplyMayOvertakeTheCompletionOfItsSend) {
  peer.small_receive_buffer = true;
  open();
  // The peer does not read, so this Send cannot be written out.
  const Bytes large = pattern(8 << 20);
  int context;
  ASSERT_TRUE(server().send(large, {}, {}, &context));
  loop.settle();
  peer.send(wire::send(next_msn++, bytes_of("reply")));
  ASSERT_TRUE(loop.until([&] { return server().messages.size() == 2; }));
  EXPECT_TRUE(server().sends_done.empty());
  while (server().sends_done.empty()) peer.receive_fpdus(1);
  EXPECT_EQ(server().sends_done[0], &context);
}

}  // namespace
}  // namespace nfsrdma::fabric::testing
