// Shared by all connections of one fabric. It lives as long as the last of them.
#pragma once

#include <memory>
#include <vector>

#include "transport/base/buffer.h"
#include "transport/base/reactor.h"
#include "transport/base/result.h"
#include "transport/fabric/verbs/device.h"
#include "transport/fabric/verbs/event_channel.h"
#include "transport/fabric/verbs/verbs.h"

namespace nfsrdma::fabric::verbs {

class VerbsContext {
 public:
  VerbsContext(Reactor& reactor, VerbsOptions options)
      : reactor_(reactor), options_(std::move(options)) {}

  Reactor& reactor() { return reactor_; }
  const VerbsOptions& options() const { return options_; }

  /// Opened with the first id that is wanted.
  Result<EventChannel*> events();
  Result<void> add_pool(BufferPool& pool);
  /// The device that an id was bound to, opened and with every pool registered. Fails when it is
  /// not the one that was asked for.
  Result<std::shared_ptr<Device>> device_of(const rdma_cm_id& id);
  /// The device is gone, or behaves as if it were: the next connection opens it anew. Null: none.
  void forget(const Device* device);
  /// No route goes through a device: those that no connection uses are not kept open, or they could
  /// not be removed.
  void forget_idle();
  /// The fabric is gone: pools may go, too, and devices with their last connection.
  void close();

 private:
  template <class Condition>
  void forget_those(Condition condition);
  Result<void> check_wanted(const std::string& name) const;

  Reactor& reactor_;
  const VerbsOptions options_;
  std::shared_ptr<EventChannel> events_;
  std::vector<BufferPool*> pools_;
  std::vector<std::shared_ptr<Device>> devices_;
  bool device_lost_ = false;  // since one was opened
};

/// The provider on a context, which it closes at its end. What else uses the context shares its
/// devices and what is registered with them.
std::unique_ptr<Fabric> make_fabric(std::shared_ptr<VerbsContext> context);

}  // namespace nfsrdma::fabric::verbs
