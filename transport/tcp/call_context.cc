#include "transport/tcp/call_context.h"

#include <cassert>

#include "transport/tcp/requester.h"

namespace nfsrdma::tcp {

void CallContext::on_sent() { requester->on_sent(*this); }

void CallContext::reset() {
  requester = nullptr;
  call = nullptr;
  sent = answered = false;
  reply = {};
  error.reset();
}

CallContextPool::CallContextPool(std::size_t count) {
  contexts_.reserve(count);
  free_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    contexts_.push_back(std::make_unique<CallContext>());
    free_.push_back(contexts_.back().get());
  }
}

CallContext* CallContextPool::take() {
  if (free_.empty()) return nullptr;
  CallContext* context = free_.back();
  free_.pop_back();
  ++in_use_;
  return context;
}

void CallContextPool::give_back(CallContext& context) {
  assert(context.sent && !context.linked() && "I4: the kernel has not taken all of this call");
  assert(!context.in_use.linked() && "I5: work is outstanding");
  context.reset();
  free_.push_back(&context);
  --in_use_;
}

}  // namespace nfsrdma::tcp
