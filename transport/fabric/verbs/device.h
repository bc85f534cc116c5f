// One RDMA device as one fabric uses it: what it can do, the protection domain with the registered
// pools, the completion channel of all its connections, and its asynchronous events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "transport/base/buffer.h"
#include "transport/base/intrusive_list.h"
#include "transport/base/reactor.h"
#include "transport/base/result.h"
#include "transport/fabric/verbs/handles.h"
#include "transport/fabric/verbs/memory_regions.h"
#include "transport/fabric/verbs/staging.h"
#include "transport/fabric/verbs/verbs.h"

namespace nfsrdma::fabric::verbs {

/// One connection through a device.
class DeviceUser : public ListNode {
 public:
  virtual ibv_qp* queue_pair() const = 0;
  /// Completions may be there to be polled.
  virtual void on_completions() = 0;
  /// An asynchronous event of the queue pair.
  virtual void on_queue_pair_event(ibv_event_type type) = 0;
  virtual void on_device_failed() = 0;

 protected:
  ~DeviceUser() = default;
};

class Device final : public std::enable_shared_from_this<Device> {
 public:
  /// What the device can do, as far as it matters here.
  struct Limits {
    std::uint32_t work_requests = 0;  ///< in a queue
    std::uint32_t completions = 0;    ///< in a completion queue
    std::uint32_t pieces = 0;         ///< of one work request
    std::uint8_t reads_in = 0;        ///< RDMA Reads of the peer at once
    std::uint8_t reads_out = 0;
  };

  /// Fails when the choice asks for windows and the device has none.
  static Result<Tier> tier_of(ibv_context* context, RegistrationChoice choice);

  static Result<std::shared_ptr<Device>> open(Reactor& reactor, ibv_context* context,
                                              RegistrationChoice choice);
  ~Device();

  ibv_context* context() const { return context_; }
  std::string name() const { return ::ibv_get_device_name(context_->device); }
  Tier tier() const { return tier_; }
  const Limits& limits() const { return limits_; }
  /// Whether a received message invalidated a handle.
  bool invalidated(const ibv_wc& completion) const {
    return (completion.wc_flags & invalidation_flags_) != 0;
  }
  ibv_pd* domain() const { return domain_.get(); }
  ibv_comp_channel* completion_channel() const { return completions_.get(); }
  MemoryRegions& regions() { return *regions_; }
  Result<Buffer> stage(std::size_t size) { return staging_.acquire(size, *regions_); }

  void attach(DeviceUser& user) { users_.push_back(user); }

 private:
  /// A descriptor of the device in the reactor.
  struct Source final : FdHandler {
    Source(Device& owner, void (Device::*handler)()) : device(owner), on_readable(handler) {}
    void on_ready(std::uint32_t) override;
    Device& device;
    void (Device::*on_readable)();
  };

  Device(Reactor& reactor, ibv_context* context, Tier tier);
  Result<void> start();
  Result<void> watch(int fd, Source& source);
  void on_completion_channel();
  void on_async_events();
  void dispatch(const ibv_async_event& event);

  Reactor& reactor_;
  ibv_context* context_;
  Tier tier_;
  Limits limits_;
  unsigned invalidation_flags_ = IBV_WC_WITH_INV;
  ProtectionDomain domain_;
  CompletionChannel completions_;
  Staging staging_;
  std::unique_ptr<MemoryRegions> regions_;
  Source completion_source_;
  Source async_source_;
  IntrusiveList<DeviceUser> users_;
};

}  // namespace nfsrdma::fabric::verbs
