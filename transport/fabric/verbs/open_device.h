// A device that librdmacm has open: its asynchronous events, and its end when it was removed.
#pragma once

#include <memory>
#include <string_view>

#include "transport/base/intrusive_list.h"
#include "transport/base/reactor.h"
#include "transport/base/result.h"
#include "transport/fabric/verbs/handles.h"

namespace nfsrdma::fabric::verbs {

/// One connection through a device.
class DeviceUser : public ListNode {
 public:
  virtual ibv_qp* queue_pair() const = 0;
  virtual ibv_cq* completion_queue() const = 0;
  /// Completions may be there to be polled.
  virtual void on_completions() = 0;
  /// An asynchronous event of the queue pair or the completion queue.
  virtual void on_queue_event(ibv_event_type type) = 0;
  virtual void on_device_failed() = 0;

 protected:
  ~DeviceUser() = default;
};

using DeviceUsers = IntrusiveList<DeviceUser>;

/// Passes an event to the users it concerns. `device` is its name, for the log.
void tell_users(DeviceUsers& users, const ibv_async_event& event, std::string_view device);

/// librdmacm opens a device once for a process, and every event can be taken once: all that one
/// reactor does with a device shares one of these.
class OpenDevice final : public std::enable_shared_from_this<OpenDevice>, private FdHandler {
 public:
  /// The one of this device in this reactor, whose thread calls; made if need be.
  static Result<std::shared_ptr<OpenDevice>> of(Reactor& reactor, ibv_context* context);
  ~OpenDevice() override;

  void attach(DeviceUser& user) { users_.push_back(user); }
  /// The device has been removed: librdmacm must close it after its last user. Linux finishes
  /// removing a device that cannot be taken from its users (rxe, siw) only then.
  void note_removed() { removed_ = true; }

 private:
  OpenDevice(Reactor& reactor, ibv_context* context) : reactor_(reactor), context_(context) {}
  void on_ready(std::uint32_t events) override;

  Reactor& reactor_;
  ibv_context* context_;
  DeviceUsers users_;
  bool removed_ = false;
};

/// Makes librdmacm close removed devices without users. librdmacm looks for them only when it lists
/// all devices, and only while there is one (rdma-core 44); it opens those as a side effect.
void close_removed_devices();

/// Readable without blocking, and watched.
Result<void> watch_events(Reactor& reactor, int fd, FdHandler& handler);

}  // namespace nfsrdma::fabric::verbs
