#include "transport/rdma/call_context.h"

#include <cassert>
#include <cstring>

#include "transport/rdma/requester.h"

namespace nfsrdma::rdma {

CallContext::CallContext(Buffer header) : leases(*this), header_(std::move(header)) {
  std::memset(zeros().data(), 0, zeros().size());
}

void CallContext::on_send_done() { requester->on_sent(*this); }

void CallContext::reset() {
  assert(bound_leases == 0 && "I5: work is outstanding");
  rpc::CallContext::reset();
  leases.clear();
  requester = nullptr;
  plan = {};
  write_from = reply_from = 0;
  reply_chunk.reset();
  message.reset();
  inline_message = {};
  shape = {};
}

}  // namespace nfsrdma::rdma
