#include "transport/rdma/connection.h"

namespace nfsrdma::rdma {
namespace {

void visit_properties(CounterVisitor& visitor, const char* whose, const Properties& properties) {
  PrefixedVisitor prefixed(whose, visitor);
  prefixed.visit("receive_buffer_size", properties.receive_buffer_size);
  prefixed.visit("requester_remote_invalidation", properties.requester_remote_invalidation);
  prefixed.visit("backward_request_support", properties.backward_request_support);
}

}  // namespace

void Connection::visit_counters(CounterVisitor& visitor) const {
  counters_.visit(visitor);
  visitor.visit("rpcrdma_version", link_.version());
  visitor.visit("inline_to_server", link_.thresholds().call);
  visitor.visit("inline_from_server", link_.thresholds().reply);
  if (link_.version() != kVersionOne) {
    visit_properties(visitor, "own", properties_->own());
    visit_properties(visitor, "server", properties_->peer());
  }
  visitor.visit("calls_open", requester_.open_calls());
  visitor.visit("calls_in_flight", requester_.credits().in_flight());
  visitor.visit("credit_limit", requester_.credits().limit());
  visitor.visit("call_contexts_in_use", pools_.contexts->in_use());
  visitor.visit("receives_posted", link_.posted());
  visitor.visit("messages_held", pools_.receives->in_state(Message::State::held));
  visitor.visit("callbacks_open", backward_.open_calls());
  PrefixedVisitor of_provider(provider_, visitor);
  link_.visit_provider(of_provider);
}

}  // namespace nfsrdma::rdma
