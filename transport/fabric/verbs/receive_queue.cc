#include "transport/fabric/verbs/receive_queue.h"

#include <infiniband/verbs.h>

#include <array>
#include <cassert>
#include <cstdlib>

#include "transport/fabric/verbs/fault.h"

namespace nfsrdma::fabric::verbs {
namespace {

/// At most so many receives are posted in one chain.
constexpr std::size_t kMaxReceiveChain = 32;

}  // namespace

void ReceiveQueue::lend(ReceiveBuffer& buffer) {
  assert(!buffer.posted && "I2: a receive buffer is posted twice");
  buffer.posted = true;
  waiting_.push_back(buffer);
}

Result<void> ReceiveQueue::post(ibv_qp* queue_pair, std::size_t depth,
                                const MemoryRegions& regions) {
  std::array<ibv_recv_wr, kMaxReceiveChain> chain;
  std::array<ibv_sge, kMaxReceiveChain> pieces;
  while (!waiting_.empty() && out_ < depth) {
    std::size_t count = 0;
    while (count < kMaxReceiveChain && out_ < depth) {
      ReceiveBuffer* buffer = waiting_.pop_front();
      if (buffer == nullptr) break;
      posted_.push_back(*buffer);
      const auto memory = buffer->memory;
      const Region* region = regions.find(memory.data(), memory.size());
      if (region == nullptr) {
        return fail(connection_error(Fault::resources, "a receive in unregistered memory"));
      }
      pieces[count] = {reinterpret_cast<std::uintptr_t>(memory.data()),
                       static_cast<std::uint32_t>(memory.size()), region->local->lkey};
      chain[count] = {reinterpret_cast<std::uintptr_t>(buffer), nullptr, &pieces[count], 1};
      if (count > 0) chain[count - 1].next = &chain[count];
      ++count;
      ++out_;
    }
    ibv_recv_wr* bad = nullptr;
    const int rc = ::ibv_post_recv(queue_pair, chain.data(), &bad);
    if (rc != 0) return fail(call_error(std::abs(rc), "ibv_post_recv"));
    counters_.receive_posts.add();
  }
  return {};
}

ReceiveBuffer& ReceiveQueue::complete(std::uint64_t id) {
  auto& buffer = *reinterpret_cast<ReceiveBuffer*>(static_cast<std::uintptr_t>(id));
  assert(buffer.posted && out_ > 0 && "I1: a receive completes once");
  buffer.unlink();
  buffer.posted = false;
  --out_;
  return buffer;
}

void ReceiveQueue::release_all() {
  for (auto* list : {&waiting_, &posted_}) {
    while (ReceiveBuffer* buffer = list->pop_front()) buffer->posted = false;
  }
  out_ = 0;
}

}  // namespace nfsrdma::fabric::verbs
