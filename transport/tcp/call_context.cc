#include "transport/tcp/call_context.h"

#include <cassert>

#include "transport/tcp/requester.h"

namespace nfsrdma::tcp {

void CallContext::on_sent() { requester->on_sent(*this); }

void CallContext::reset() {
  assert(!Outgoing::linked() && "I4: the kernel has not taken all of this call");
  rpc::CallContext::reset();
  requester = nullptr;
  reply = {};
}

}  // namespace nfsrdma::tcp
