// Sends, RDMA Writes and Reads, binds and local invalidations, in posting order. Pushed requests
// wait for post(), which hands them to the device with one doorbell, as far as its queue has room;
// the rest follows when completions have made room.
//
// Requests are signalled only where needed: Reads, the last of a row of invalidations, Sends
// without a reply, and every n-th of the others; without the last the device's queue would fill up.
// A completion also completes everything posted before it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/base/result.h"
#include "transport/base/ring.h"
#include "transport/fabric/fabric.h"
#include "transport/fabric/verbs/counters.h"
#include "transport/fabric/verbs/device.h"
#include "transport/fabric/verbs/work_item.h"

namespace nfsrdma::fabric::verbs {

class SendQueue {
 public:
  /// A request that a completion has ended.
  struct Ended {
    WorkKind kind = WorkKind::send;
    void* context = nullptr;
    Lease* lease = nullptr;
  };

  explicit SendQueue(Counters& counters) : counters_(counters) {}

  /// Call before the first push. `room`: requests that the queue pair holds.
  void configure(Device& device, std::uint32_t room, std::uint32_t pieces);
  void start(ibv_qp* queue_pair) { queue_pair_ = queue_pair; }

  Result<void> push_send(const SendWork& work);
  Result<void> push_write(std::span<const std::span<const std::byte>> pieces, const Segment& to);
  Result<void> push_read(std::span<std::byte> into, const Segment& from, void* context);
  void push_bind(ibv_mw* window, const Region& region, std::uint32_t handle, Lease& lease);
  void push_invalidate(Lease& lease);

  /// Posts pushed requests as far as there is room, with one doorbell.
  Result<void> post();
  /// The device completed the request posted with this id.
  void complete(std::uint64_t id);
  /// Takes the next ended request that must be reported.
  bool take_ended(Ended& ended);
  /// The peer answered the Send with this context. False when it is over already, or never was.
  bool end_by_answer(const void* context);

  /// Nothing waits for the doorbell, and nothing is out that will report itself.
  bool idle() const { return posted_ == items_.tail() && signaled_out_ == 0; }
  void clear();

  static bool is_send_id(std::uint64_t id) { return (id & 1) != 0; }

 private:
  using Position = Ring<WorkItem>::Position;

  Result<void> gather(WorkItem& item, std::span<const std::span<const std::byte>> pieces);
  bool gather_in_place(WorkItem& item, std::span<const std::span<const std::byte>> pieces) const;
  bool must_signal(Position position);
  ibv_send_wr request_for(Position position);
  std::size_t room() const;

  Counters& counters_;
  Device* device_ = nullptr;
  ibv_qp* queue_pair_ = nullptr;
  std::size_t depth_ = 0;
  std::size_t max_pieces_ = 0;
  Ring<WorkItem> items_;
  Position posted_ = 0;     // the next one to hand to the device
  Position completed_ = 0;  // the first one that the device may still work on
  std::size_t unsignaled_ = 0;
  std::size_t signaled_out_ = 0;
};

}  // namespace nfsrdma::fabric::verbs
