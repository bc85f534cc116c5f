// A service that answers with DDP-eligible items, and memory for it to answer into.
#pragma once

#include <algorithm>
#include <vector>

#include "tests/responder/responder_rig.h"

namespace nfsrdma::responder {

inline constexpr std::byte kSentinel{0xee};

class ReplyTest : public ResponderRig {
 protected:
  /// The service answers with these items, each behind a word, and a last word.
  void answer_with(std::vector<Bytes> items) {
    service.on_call = [items = std::move(items)](ServerCall& call) {
      for (std::size_t i = 0; i < items.size(); ++i) {
        auto memory = call.scratch(items[i].size());
        std::copy(items[i].begin(), items[i].end(), memory.begin());
        call.results().u32(static_cast<std::uint32_t>(100 + i));
        call.results().payload(memory);
      }
      call.results().u32(kLastWord);
      call.reply(rpc::AcceptStat::success);
    };
  }
  static constexpr std::uint32_t kLastWord = 99;

  static Bytes copy(std::span<const std::byte> bytes) { return {bytes.begin(), bytes.end()}; }
  Exposed& sink(RawRequester& requester, std::size_t size) {
    return requester.expose(size, fabric::Access::remote_write, kSentinel);
  }
};

}  // namespace nfsrdma::responder
