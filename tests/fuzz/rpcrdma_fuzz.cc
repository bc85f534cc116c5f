// Messages from a hostile server, at the RPC-over-RDMA and the RPC level: replies to three open
// Calls and callbacks. The first byte says how the rest is delivered (rpcrdma_inputs.h). Whatever
// comes, every call ends once, and nothing stays exposed, posted or held.
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/fuzz/rpcrdma_inputs.h"
#include "transport/base/log.h"

namespace nfsrdma::fuzz {
namespace {

constexpr std::size_t kMaxData = 1U << 20;

/// A failed expectation is a crash, which is what fuzzers report.
void require(bool holds) {
  if (!holds) std::abort();
}

/// Reads results as a client would: a placed or inline item, then words.
void read_results(xdr::Decoder& results) {
  std::uint64_t sum = 0;
  for (auto byte : results.payload(kMaxData, "data").data) sum += std::to_integer<unsigned>(byte);
  while (results.ok() && results.remaining() > 0) sum += results.u32("word");
  const bool clean = results.finish("results").has_value();
  require(clean == results.ok() && sum < kMaxData * kMaxData);
}

void answer_callback(rpc::BackwardCall& call) {
  const std::uint32_t argument = call.arguments().u32("argument");
  call.results().u32(argument);
  call.answer(call.arguments().ok() ? rpc::AcceptStat::success : rpc::AcceptStat::garbage_args);
}

void deliver(test::Harness& harness, std::uint8_t how, std::span<const std::byte> bytes) {
  test::FakeEndpoint& peer = harness.peer();
  if (how & kFillReplyChunk) {
    const auto& segment = peer.sent(kFirstMessage + kLongReplyCall).leases[0]->segment;
    peer.remote_write(segment, bytes.first(std::min<std::size_t>(bytes.size(), segment.length)));
  }
  std::optional<std::uint32_t> invalidated;
  if (how & kInvalidate)
    invalidated = peer.sent(kFirstMessage + kWriteChunkCall).leases[0]->segment.handle;
  const test::Bytes message(bytes.begin(), bytes.end());
  peer.deliver(message, invalidated);
  if (how & kDeliverTwice) peer.deliver(message);
  harness.settle();
}

void require_nothing_left(test::Harness& harness) {
  for (const char* gauge : {"calls_open", "call_contexts_in_use", "receives_posted"}) {
    require(test::counter(*harness.channel, gauge) == 0);
  }
  require(test::counter(*harness.channel, "messages_held") == 0);
  require(harness.replies->available() == harness.replies->slots());
  require(harness.factory->pools().backward->in_use() == 0);
}

void run(std::uint8_t how, std::span<const std::byte> bytes) {
  static test::Harness harness(small_setup());
  harness.fabric.restart_handles();
  harness.observer = {};
  harness.observer.on_callback = answer_callback;
  harness.connect();
  {
    OpenCalls calls(harness);
    deliver(harness, how, bytes);
    if (harness.observer.downs == 0) harness.peer().lose(net::Fault::closed);
    harness.settle();
    for (auto& call : calls.calls) {
      require(call->done_count() == 1);
      if (call->ok()) read_results(call->results());
    }
  }
  require(harness.observer.downs == 1);
  require_nothing_left(harness);
  harness.channel.reset();
}

}  // namespace
}  // namespace nfsrdma::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  testing::GTEST_FLAG(break_on_failure) = true;
  nfsrdma::log::set_level(nfsrdma::log::Level::off);
  nfsrdma::fuzz::run(data[0], std::as_bytes(std::span(data, size)).subspan(1));
  return 0;
}
