#include "transport/tcp/counters.h"

namespace nfsrdma::tcp {

void Counters::visit(CounterVisitor& visitor) const {
  visit_calls(visitor);
  visitor.visit("read_calls", read_calls.value());
  visitor.visit("write_calls", write_calls.value());
  visitor.visit("bytes_received", bytes_received.value());
  visitor.visit("bytes_sent", bytes_sent.value());
  visitor.visit("replies", replies.value());
  visitor.visit("records", records.value());
  visitor.visit("fragments", fragments.value());
  visitor.visit("call_bytes_payload", call_bytes_payload.value());
  visitor.visit("reply_bytes_payload", reply_bytes_payload.value());
  visitor.visit("reply_bytes_message", reply_bytes_message.value());
  visitor.visit("payload_bytes_copied", payload_bytes_copied.value());
  visitor.visit("large_replies", large_replies.value());
  visitor.visit("partial_sends", partial_sends.value());
  visitor.visit("receive_pauses", receive_pauses.value());
  visitor.visit("bad_records", bad_records.value());
}

}  // namespace nfsrdma::tcp
