#include "transport/fabric/verbs/open_device.h"

#include <fcntl.h>
#include <sys/epoll.h>

#include <cerrno>
#include <vector>

#include "transport/base/log.h"
#include "transport/fabric/verbs/fault.h"

namespace nfsrdma::fabric::verbs {
namespace {

/// So many events are handled before other descriptors get their turn.
constexpr int kDeviceEventsPerTurn = 64;

}  // namespace

void tell_users(DeviceUsers& users, const ibv_async_event& event, std::string_view device) {
  switch (event.event_type) {
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_COMM_EST:
      // The queue pair may belong to another thread: its pointer is compared, and not followed.
      return users.for_each([&](DeviceUser& user) {
        if (user.queue_pair() == event.element.qp) user.on_queue_event(event.event_type);
      });
    case IBV_EVENT_CQ_ERR:
      return users.for_each([&](DeviceUser& user) {
        if (user.completion_queue() == event.element.cq) user.on_queue_event(event.event_type);
      });
    case IBV_EVENT_DEVICE_FATAL:
      log::error("RDMA device {}: fatal error", device);
      return users.for_each([](DeviceUser& user) { user.on_device_failed(); });
    case IBV_EVENT_PORT_ERR:
      return log::warning("RDMA device {}: port {} is down", device, event.element.port_num);
    case IBV_EVENT_PORT_ACTIVE:
      return log::warning("RDMA device {}: port {} is up again", device, event.element.port_num);
    default:
      return log::debug("RDMA device {}: {}", device, ::ibv_event_type_str(event.event_type));
  }
}

void close_removed_devices() {
  ibv_context** devices = ::rdma_get_devices(nullptr);
  if (devices != nullptr) ::rdma_free_devices(devices);
}

Result<void> watch_events(Reactor& reactor, int fd, FdHandler& handler) {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0 || ::fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0) {
    return fail(call_error(errno, "RDMA device events"));
  }
  return reactor.watch(fd, EPOLLIN, handler);
}

Result<std::shared_ptr<OpenDevice>> OpenDevice::of(Reactor& reactor, ibv_context* context) {
  thread_local std::vector<std::weak_ptr<OpenDevice>> open;
  std::erase_if(open, [](const auto& each) { return each.expired(); });
  for (const auto& each : open) {
    auto events = each.lock();
    if (&events->reactor_ == &reactor && events->context_ == context) return events;
  }
  std::shared_ptr<OpenDevice> made(new OpenDevice(reactor, context));
  TRY(watch_events(reactor, context->async_fd, *made));
  open.push_back(made);
  return made;
}

OpenDevice::~OpenDevice() {
  reactor_.unwatch(context_->async_fd);
  if (removed_) close_removed_devices();
}

void OpenDevice::on_ready(std::uint32_t) {
  const auto self = shared_from_this();  // an event may end the last connection, and this with it
  for (int round = 0; round < kDeviceEventsPerTurn; ++round) {
    ibv_async_event event{};
    if (::ibv_get_async_event(context_, &event) != 0) return;
    const ibv_async_event copy = event;
    ::ibv_ack_async_event(&event);
    tell_users(users_, copy, ::ibv_get_device_name(context_->device));
  }
}

}  // namespace nfsrdma::fabric::verbs
