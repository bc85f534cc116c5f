// What an input of fuzz_rpcrdma is: one byte of flags, then the message.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "tests/transport/rdma/harness.h"

namespace nfsrdma::fuzz {

inline constexpr std::uint8_t kFillReplyChunk = 1;  ///< the message also goes into the Reply chunk
inline constexpr std::uint8_t kInvalidate = 2;      ///< it invalidates the Write chunk's handle
inline constexpr std::uint8_t kDeliverTwice = 4;

/// The calls that are open when the message comes, in the order they were sent.
enum OpenCall : std::size_t { kPlainCall, kWriteChunkCall, kLongReplyCall, kOpenCalls };
inline constexpr std::uint32_t kFirstXid = 0x100;

/// The version of the target; what is built for version 2 has properties, too.
inline constexpr std::uint32_t kVersion = NFSRDMA_FUZZ_VERSION;
inline constexpr bool kVersionTwo = kVersion == rdma::kVersionTwo;

/// A first exchange opens the credits before them; version 2 then sends CONNPROP.
inline constexpr std::size_t kFirstMessage = kVersionTwo ? 2 : 1;

inline test::Harness::Setup small_setup() {
  test::Harness::Setup setup;
  if (kVersionTwo) {
    setup = test::Harness::Setup::of_version(kVersion);
    setup.options.property_operations = rdma::Options{}.property_operations;
  }
  setup.options.credits = kOpenCalls + kFirstMessage;  // one is kept back
  setup.options.backward_credits = 2;
  setup.reply_slots = 2;
  return setup;
}

/// Opens the connection's credits with a first exchange and submits the calls.
struct OpenCalls {
  explicit OpenCalls(test::Harness& harness) : sink(harness.data->acquire()) {
    {
      test::TestCall opener(harness, kFirstXid - 1);
      opener.submit();
      harness.answer(0);
    }
    for (std::size_t i = 0; i < kOpenCalls; ++i) {
      calls[i] =
          std::make_unique<test::TestCall>(harness, kFirstXid + static_cast<std::uint32_t>(i));
    }
    calls[kWriteChunkCall]->call.result_sink = sink.first(9000);
    calls[kLongReplyCall]->call.max_reply = 20000;
    for (auto& call : calls) call->submit();
  }

  Buffer sink;
  std::array<std::unique_ptr<test::TestCall>, kOpenCalls> calls;
};

}  // namespace nfsrdma::fuzz
