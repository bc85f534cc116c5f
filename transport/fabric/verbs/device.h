// One RDMA device as one fabric uses it: its limits, the protection domain with the registered
// pools, the completion channel of all its connections.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "transport/base/buffer.h"
#include "transport/base/reactor.h"
#include "transport/base/result.h"
#include "transport/fabric/verbs/handles.h"
#include "transport/fabric/verbs/memory_regions.h"
#include "transport/fabric/verbs/open_device.h"
#include "transport/fabric/verbs/staging.h"
#include "transport/fabric/verbs/verbs.h"

namespace nfsrdma::fabric::verbs {

class Device final : public std::enable_shared_from_this<Device>, private FdHandler {
 public:
  /// Limits of the device.
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
  ~Device() override;

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

  void attach(DeviceUser& user) { open_->attach(user); }
  void note_removed() { open_->note_removed(); }

 private:
  Device(Reactor& reactor, ibv_context* context, Tier tier);
  Result<void> start();
  /// The completion channel.
  void on_ready(std::uint32_t events) override;

  Reactor& reactor_;
  ibv_context* context_;
  Tier tier_;
  Limits limits_;
  unsigned invalidation_flags_ = IBV_WC_WITH_INV;
  std::shared_ptr<OpenDevice> open_;  // goes last: the device may be closed with it
  ProtectionDomain domain_;
  CompletionChannel completions_;
  Staging staging_;
  std::unique_ptr<MemoryRegions> regions_;
};

}  // namespace nfsrdma::fabric::verbs
