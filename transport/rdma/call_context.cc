#include "transport/rdma/call_context.h"

#include <cassert>
#include <cstring>

#include "transport/rdma/requester.h"

namespace nfsrdma::rdma {

CallContext::CallContext(Buffer header) : leases(*this), header_(std::move(header)) {
  std::memset(zeros().data(), 0, zeros().size());
}

void CallContext::on_send_done() { requester->on_send_done(*this); }

void CallContext::reset() {
  leases.clear();
  requester = nullptr;
  call = nullptr;
  plan = {};
  write_from = reply_from = 0;
  reply_chunk.reset();
  send_done = answered = false;
  bound_leases = 0;
  message.reset();
  inline_message = {};
  shape = {};
  error.reset();
}

CallContextPool::CallContextPool(BufferPool& memory, std::size_t count) {
  contexts_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    contexts_.push_back(std::make_unique<CallContext>(memory.acquire()));
    free_.push_back(*contexts_.back());
  }
}

CallContext* CallContextPool::take() {
  CallContext* context = free_.pop_front();
  if (context) ++in_use_;
  return context;
}

void CallContextPool::give_back(CallContext& context) {
  assert(context.send_done && "I4: the provider still reads the memory of this call");
  assert(context.bound_leases == 0 && !context.linked() && "I5: work is outstanding");
  context.reset();
  free_.push_front(context);
  --in_use_;
}

}  // namespace nfsrdma::rdma
