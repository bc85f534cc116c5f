#include "fuse/channel/counters.h"

#include <algorithm>
#include <string>

namespace nfsrdma::fuse {

void ChannelCounters::count_request(std::uint32_t opcode) {
  requests[std::min(opcode, kOpcodes - 1)].add();
}

void ChannelCounters::count_answer(const KernelChannel& channel) {
  (channel.is_ring ? ring_answers : device_writes).add();
}

void ChannelCounters::visit(CounterVisitor& visitor) const {
  visitor.visit("fuse_device_reads", device_reads.value());
  visitor.visit("fuse_device_idle", device_idle.value());
  visitor.visit("fuse_device_writes", device_writes.value());
  visitor.visit("fuse_ring_entries", ring_entries.value());
  visitor.visit("fuse_ring_requests", ring_requests.value());
  visitor.visit("fuse_ring_answers", ring_answers.value());
  visitor.visit("fuse_ring_enters", ring_enters.value());
  visitor.visit("fuse_ring_bytes_copied", ring_bytes_copied.value());
  visitor.visit("fuse_ring_slots_kept", ring_slots_kept.value());
  visitor.visit("fuse_replies_unwanted", replies_unwanted.value());
  visitor.visit("fuse_replies_failed", replies_failed.value());
  visitor.visit("fuse_replies_after_abort", replies_after_abort.value());
  visitor.visit("fuse_malformed", malformed.value());
  visitor.visit("fuse_unanswered", unanswered.value());
  visitor.visit("fuse_interrupts", interrupts.value());
  visitor.visit("fuse_interrupted", interrupted.value());
  visitor.visit("fuse_left_behind", left_behind.value());
  visitor.visit("fuse_timed_out", timed_out.value());
  visitor.visit("fuse_slots_taken", slots_taken.value());
  visitor.visit("fuse_slot_stalls", slot_stalls.value());
  for (std::uint32_t opcode = 0; opcode < kOpcodes; ++opcode) {
    const auto count = requests[opcode].value();
    if (count == 0) continue;
    const auto name = opcode_name(opcode);
    visitor.visit(name.empty() ? "fuse_requests_other" : "fuse_requests_" + std::string(name),
                  count);
  }
}

}  // namespace nfsrdma::fuse
