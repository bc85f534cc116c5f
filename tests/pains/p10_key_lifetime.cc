// P10: a call's memory is reachable for the server from its Send to its end, whatever cuts the
// connection in between: a call that has ended finds what was there, and no server writes any more.
#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <random>

#include "tests/transport/rdma/harness.h"

namespace nfsrdma::test {
namespace {

constexpr std::size_t kExposed = 9000;

/// A call that exposes memory in every way, and what it exposed.
struct Exposing {
  explicit Exposing(Harness& harness, std::uint32_t xid)
      : argument(harness.data->acquire()), sink(harness.data->acquire()), call(harness, xid) {
    call.call.encoder.payload(argument.first(kExposed));
    call.call.result_sink = sink.first(kExposed);
    call.call.max_reply = 20000;
  }

  Buffer argument;
  Buffer sink;
  TestCall call;
  std::vector<fabric::Segment> segments;
  Bytes canary;  ///< what the sink held when the call ended
};

class P10_KeyLifetime : public ::testing::Test {
 protected:
  bool chance(unsigned percent) { return random_() % 100 < percent; }

  void connect() {
    harness_.fabric.sends_complete = chance(50);
    harness_.fabric.invalidates_at_once = chance(30);
    harness_.fabric.remote_invalidation = chance(50);
    harness_.observer = {};
    harness_.connect();
    noted_ = 0;
    // The binding of the second, third ... memory of a call fails.
    if (chance(10)) harness_.peer().prepares_before_failure = static_cast<int>(random_() % 6);
    if (chance(5)) harness_.peer().fail_sends = true;
  }
  void submit() {
    Exposing& exposing = calls_.emplace_back(harness_, xid_++);
    exposing.call.on_done = [this, &exposing] {
      const auto now = exposing.sink.first(kExposed);
      exposing.canary.assign(now.begin(), now.end());
      expect_out_of_reach(exposing);
    };
    exposing.call.submit();
    note_sent();
  }
  void note_sent() {
    if (!harness_.fabric.endpoint()) return;
    for (; noted_ < harness_.peer().sent_count(); ++noted_) {
      const auto& message = harness_.peer().sent(noted_);
      const std::uint32_t xid = parse(message.bytes)->header.rdma_xid;
      for (Exposing& exposing : calls_) {
        if (exposing.call.call.xid != xid) continue;
        exposing.segments.clear();
        for (const auto* lease : message.leases) exposing.segments.push_back(lease->segment);
      }
    }
  }
  void expect_out_of_reach(const Exposing& exposing) {
    if (!harness_.fabric.endpoint()) return;
    for (const fabric::Segment& segment : exposing.segments) {
      EXPECT_FALSE(harness_.peer().reachable(segment.handle));
      EXPECT_FALSE(harness_.peer().remote_write(segment, pattern(16, 0xAB)));
      EXPECT_FALSE(harness_.peer().remote_read(segment));
    }
  }
  /// The server writes wherever it was ever allowed to.
  void scribble() {
    if (!harness_.fabric.endpoint() || harness_.peer().down()) return;
    for (Exposing& exposing : calls_) {
      for (const fabric::Segment& segment : exposing.segments) {
        const bool done = exposing.call.done();
        const bool written = harness_.peer().remote_write(segment, pattern(16, random_() % 256));
        EXPECT_FALSE(done && written);
      }
    }
  }
  void answer() {
    if (harness_.peer().sent_count() == 0) return;
    const std::size_t index = random_() % harness_.peer().sent_count();
    const auto& leases = harness_.peer().sent(index).leases;
    const rdma::Header& header = harness_.reply_header(index);
    std::optional<std::uint32_t> invalidated;
    const bool open = std::ranges::any_of(calls_, [&](const Exposing& exposing) {
      return exposing.call.call.xid == header.rdma_xid && !exposing.call.done();
    });
    if (open && harness_.fabric.remote_invalidation && chance(50) && !leases.empty() &&
        harness_.peer().reachable(leases[0]->segment.handle)) {
      invalidated = leases[0]->segment.handle;
    }
    harness_.peer().deliver(encode(header, rpc_reply(header.rdma_xid)), invalidated);
  }
  /// One connection, cut at some point: between the parts of a post, between reply and
  /// invalidation, or within the invalidations.
  void run_one() {
    connect();
    if (harness_.observer.downs == 0) {
      for (unsigned count = 1 + random_() % 4; count > 0; --count) submit();
      for (unsigned step = random_() % 10; step > 0; --step) {
        if (!harness_.fabric.endpoint() || harness_.peer().down()) break;
        if (chance(50)) answer();
        if (!harness_.peer().invalidating().empty() && chance(40))
          harness_.peer().complete_invalidation(0);
        if (chance(60)) harness_.settle();
        note_sent();
        scribble();
      }
      if (harness_.observer.downs == 0) harness_.peer().lose(fabric::Fault::reset);
      harness_.settle();
    }
    for (Exposing& exposing : calls_) {
      ASSERT_TRUE(exposing.call.done());
      expect_out_of_reach(exposing);
      const auto now = exposing.sink.first(kExposed);
      ASSERT_TRUE(std::ranges::equal(exposing.canary, now)) << "written to after the call's end";
    }
    harness_.channel.reset();
    calls_.clear();
  }

  Harness harness_;
  std::mt19937 random_{10};
  std::list<Exposing> calls_;
  std::size_t noted_ = 0;
  std::uint32_t xid_ = 1;
};

TEST_F(P10_KeyLifetime, ConnectionsThatAreCutAnywhere) {
  constexpr int kConnections = 10'000;
  for (int i = 0; i < kConnections; ++i) {
    ASSERT_NO_FATAL_FAILURE(run_one()) << "connection " << i;
  }
}

// No caller waits for the call any more, and the server comes for its memory much later: it gets
// the call's own bytes, or nothing; never those of another call.
TEST_F(P10_KeyLifetime, ALateServerFindsTheCallsOwnBytes) {
  harness_.connect();
  Exposing late(harness_, 1);
  std::ranges::fill(late.argument.first(kExposed), std::byte{0x11});
  late.call.submit();
  const fabric::Segment segment = harness_.peer().sent(0).leases[0]->segment;
  harness_.reactor.advance(std::chrono::minutes(5));
  Exposing other(harness_, 2);
  std::ranges::fill(other.argument.first(kExposed), std::byte{0x22});
  const auto found = harness_.peer().remote_read(segment);
  ASSERT_TRUE(found) << "the call still owns its memory";
  EXPECT_TRUE(std::ranges::all_of(*found, [](std::byte byte) { return byte == std::byte{0x11}; }));
  harness_.answer(0);
  EXPECT_TRUE(late.call.ok());
  EXPECT_FALSE(harness_.peer().remote_read(segment));
}

}  // namespace
}  // namespace nfsrdma::test
