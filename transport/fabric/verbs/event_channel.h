// The events of librdmacm, in the reactor: one channel for all connections of a fabric.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "transport/base/reactor.h"
#include "transport/base/result.h"
#include "transport/fabric/verbs/handles.h"

namespace nfsrdma::fabric::verbs {

/// A copy of an event: the original is acknowledged before anyone is told, because an id with an
/// event in flight cannot be destroyed.
struct ConnectionEvent {
  rdma_cm_event_type type = RDMA_CM_EVENT_ADDR_RESOLVED;
  rdma_cm_id* id = nullptr;
  int status = 0;
  std::uint8_t responder_resources = 0;  ///< RDMA Reads the peer may have outstanding here
  std::uint8_t initiator_depth = 0;      ///< RDMA Reads this side may have outstanding
  std::span<const std::byte> private_data() const { return {data.data(), length}; }

  std::array<std::byte, 255> data;
  std::size_t length = 0;
};

/// The target of an id's context pointer.
class EventHandler {
 public:
  virtual void on_event(const ConnectionEvent& event) = 0;

 protected:
  ~EventHandler() = default;
};

class EventChannel final : public std::enable_shared_from_this<EventChannel>, private FdHandler {
 public:
  /// The errors of a machine without /dev/infiniband/rdma_cm say so.
  static Result<std::shared_ptr<EventChannel>> open(Reactor& reactor);
  ~EventChannel() override;

  /// An id whose events go to `handler`, which may be changed with set_handler.
  Result<ConnectionId> make_id(EventHandler& handler);
  static void set_handler(rdma_cm_id* id, EventHandler& handler) { id->context = &handler; }

 private:
  EventChannel(Reactor& reactor, EventChannelHandle channel)
      : reactor_(reactor), channel_(std::move(channel)) {}
  void on_ready(std::uint32_t events) override;

  Reactor& reactor_;
  EventChannelHandle channel_;
};

}  // namespace nfsrdma::fabric::verbs
