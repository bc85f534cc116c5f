// Calls whose arguments come in Read chunks, and a service that keeps its arguments.
#pragma once

#include <algorithm>
#include <vector>

#include "tests/responder/responder_rig.h"

namespace nfsrdma::responder {

inline constexpr std::uint32_t kReadChunkXid = 0x2001;
/// More than any payload of these tests.
inline constexpr std::size_t kReadBound = 2 << 20;

class ReadChunkTest : public ResponderRig {
 protected:
  /// The service takes `items` payloads, each with a word behind it, and keeps them.
  void take_payloads(int items) {
    service.on_call = [this, items](ServerCall& call) {
      taken.clear();
      for (int i = 0; i < items; ++i) {
        const auto payload = call.arguments().payload(kReadBound, "data");
        taken.emplace_back(payload.data.begin(), payload.data.end());
        placed = payload.placed;
        behind = call.arguments().u32("word behind");
      }
      const bool complete = static_cast<bool>(call.arguments().finish("arguments"));
      call.reply(complete ? rpc::AcceptStat::success : rpc::AcceptStat::garbage_args);
    };
  }
  static Exposed& expose(RawRequester& requester, std::span<const std::byte> data) {
    auto& memory = requester.expose(data.size(), fabric::Access::remote_read);
    std::copy(data.begin(), data.end(), memory.memory().begin());
    return memory;
  }
  /// The RPC header of a call, whose arguments begin at the returned Position.
  static std::uint32_t arguments_at() {
    return static_cast<std::uint32_t>(rpc_call(kReadChunkXid).size());
  }
  bool garbage(const ParsedReply& reply) {
    const auto results = reply.results();
    return !results && results.error().is(Layer::rpc, static_cast<int>(rpc::Fault::garbage_args));
  }

  std::vector<Bytes> taken;
  bool placed = false;
  std::uint32_t behind = 0;
};

}  // namespace nfsrdma::responder
