#include "transport/fabric/verbs/completion_queue.h"

#include <array>
#include <cerrno>

#include "transport/fabric/verbs/fault.h"

namespace nfsrdma::fabric::verbs {
namespace {

constexpr int kCompletionBatch = 16;
/// So many batches are polled before other descriptors get their turn.
constexpr int kBatchesPerTurn = 16;

}  // namespace

Result<void> CompletionQueue::open(Device& device, DeviceUser& user, std::uint32_t depth) {
  queue_.reset(::ibv_create_cq(device.context(), static_cast<int>(depth), &user,
                               device.completion_channel(), 0));
  if (!queue_) return fail(call_error(errno, "ibv_create_cq"));
  return {};
}

void CompletionQueue::note_event() {
  counters_.completion_events.add();
  armed_ = false;
}

Result<bool> CompletionQueue::poll() {
  std::array<ibv_wc, kCompletionBatch> batch;
  for (int round = 0; round < kBatchesPerTurn; ++round) {
    const int count = ::ibv_poll_cq(queue_.get(), kCompletionBatch, batch.data());
    if (count < 0) return fail(connection_error(Fault::reset, "the completion queue failed"));
    if (count == 0 && armed_) return false;
    if (count == 0) {
      const int rc = ::ibv_req_notify_cq(queue_.get(), 0);
      if (rc != 0) return fail(call_error(rc, "ibv_req_notify_cq"));
      counters_.arms.add();
      armed_ = true;  // polls once more: what completed before arming raises no event
    }
    counters_.completions.add(static_cast<std::uint64_t>(count));
    for (int i = 0; i < count; ++i) consumer_.on_completion(batch[i]);
  }
  return true;
}

}  // namespace nfsrdma::fabric::verbs
