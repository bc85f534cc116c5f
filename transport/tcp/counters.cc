#include "transport/tcp/counters.h"

namespace nfsrdma::tcp {

void Counters::visit(CounterVisitor& visitor) const {
  visitor.visit("read_calls", read_calls.value());
  visitor.visit("write_calls", write_calls.value());
  visitor.visit("bytes_received", bytes_received.value());
  visitor.visit("bytes_sent", bytes_sent.value());
  visitor.visit("connections", connections.value());
  visitor.visit("sends", sends.value());
  visitor.visit("replies", replies.value());
  visitor.visit("records", records.value());
  visitor.visit("fragments", fragments.value());
  visitor.visit("call_bytes_payload", call_bytes_payload.value());
  visitor.visit("reply_bytes_payload", reply_bytes_payload.value());
  visitor.visit("reply_bytes_message", reply_bytes_message.value());
  visitor.visit("payload_copies", payload_copies.value());
  visitor.visit("large_replies", large_replies.value());
  visitor.visit("queue_waits", queue_waits.value());
  visitor.visit("partial_sends", partial_sends.value());
  visitor.visit("receive_pauses", receive_pauses.value());
  visitor.visit("bad_xids", bad_xids.value());
  visitor.visit("bad_records", bad_records.value());
  visitor.visit("failed_calls", failed_calls.value());
  visitor.visit("backward_calls", backward_calls.value());
  visitor.visit("backward_overruns", backward_overruns.value());
}

}  // namespace nfsrdma::tcp
