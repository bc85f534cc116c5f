#include "transport/rdma/counters.h"

namespace nfsrdma::rdma {
namespace {

constexpr std::array<const char*, kProcs> kProcNames = {"msg",  "nomsg", "msgp",
                                                        "done", "error", "optional"};
constexpr std::array<const char*, kOptionTypes> kOptionNames = {"other_option", "connprop",
                                                                "reqprop", "resprop", "updprop"};

template <std::size_t Count>
void visit_all(CounterVisitor& visitor, const char* prefix,
               const std::array<const char*, Count>& names,
               const std::array<Counter, Count>& values) {
  PrefixedVisitor prefixed(prefix, visitor);
  for (std::size_t i = 0; i < Count; ++i) prefixed.visit(names[i], values[i].value());
}

}  // namespace

void MessageCounters::visit(CounterVisitor& visitor) const {
  visit_all(visitor, "sent", kProcNames, sent);
  visit_all(visitor, "received", kProcNames, received);
  visit_all(visitor, "sent", kOptionNames, options_sent);
  visit_all(visitor, "received", kOptionNames, options_received);
}

void Counters::visit(CounterVisitor& visitor) const {
  visit_calls(visitor);
  messages.visit(visitor);
  visitor.visit("options_refused", options_refused.value());
  visitor.visit("posts", posts.value());
  visitor.visit("receives", receives.value());
  visitor.visit("leases", leases.value());
  visitor.visit("remote_invalidations", remote_invalidations.value());
  visitor.visit("local_invalidations", local_invalidations.value());
  visitor.visit("inline_calls", inline_calls.value());
  visitor.visit("long_calls", long_calls.value());
  visitor.visit("inline_replies", inline_replies.value());
  visitor.visit("long_replies", long_replies.value());
  visitor.visit("read_chunks", read_chunks.value());
  visitor.visit("position_zero_chunks", position_zero_chunks.value());
  visitor.visit("write_chunks", write_chunks.value());
  visitor.visit("reply_chunks", reply_chunks.value());
  visitor.visit("call_bytes_inline", call_bytes_inline.value());
  visitor.visit("call_bytes_ddp", call_bytes_ddp.value());
  visitor.visit("reply_bytes_inline", reply_bytes_inline.value());
  visitor.visit("reply_bytes_ddp", reply_bytes_ddp.value());
  visitor.visit("grants", grants.value());
  visitor.visit("zero_grants", zero_grants.value());
  visitor.visit("bad_messages", bad_messages.value());
  visitor.visit("bad_replies", bad_replies.value());
  visitor.visit("unplaced_replies", unplaced_replies.value());
  visitor.visit("error_replies", error_replies.value());
  visitor.visit("backward_errors", backward_errors.value());
}

}  // namespace nfsrdma::rdma
