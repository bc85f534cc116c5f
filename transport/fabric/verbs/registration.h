// How leases become usable for the peer and stop being so: one of two ways, fixed with the device.
#pragma once

#include <cstdint>
#include <memory>

#include "transport/base/result.h"
#include "transport/fabric/fabric.h"
#include "transport/fabric/verbs/counters.h"
#include "transport/fabric/verbs/device.h"
#include "transport/fabric/verbs/send_queue.h"

namespace nfsrdma::fabric::verbs {

/// The leases of one connection. The transitions are those of LeaseState, and are asserted.
class Registration {
 public:
  virtual ~Registration() = default;

  virtual Result<void> prepare(Lease& lease, std::span<std::byte> memory, Access access) = 0;
  virtual void cancel(Lease& lease) = 0;
  /// Queues what must reach the device before the Send that names the lease.
  virtual void bind(Lease& lease, SendQueue& queue) = 0;
  /// True: the lease is free. False: it is when the invalidation that was queued has completed.
  virtual bool invalidate(Lease& lease, SendQueue& queue) = 0;
  /// The queued invalidation has completed: the lease is free.
  virtual void invalidated(Lease& lease) = 0;
  /// The peer invalidated a handle with a Send. False: it is none that it could have invalidated.
  virtual bool invalidated_by_peer(std::uint32_t handle) = 0;
  /// Gives back to the device what belongs to the queue pair, which is in its error state already
  /// and still exists.
  virtual void close() = 0;
  /// The queue pair is gone: every lease is free.
  virtual void release_all() = 0;
};

/// Windows of type 2: a key for each lease, good for exactly that memory, on this connection, until
/// either side invalidates it.
std::unique_ptr<Registration> make_window_registration(Device& device, Counters& counters);

/// The keys of the regions themselves. An invalidated lease is one that the peer has answered for:
/// its key goes on being valid, and the peer is trusted not to use it.
std::unique_ptr<Registration> make_static_registration(Device& device, Counters& counters);

}  // namespace nfsrdma::fabric::verbs
