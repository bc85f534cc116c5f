#include "transport/fabric/verbs/verbs_context.h"

#include <fmt/core.h>

#include <cerrno>

namespace nfsrdma::fabric::verbs {

Result<EventChannel*> VerbsContext::events() {
  if (!events_) {
    auto opened = EventChannel::open(reactor_);
    if (!opened) return fail_from(opened);
    events_ = std::move(*opened);
  }
  return events_.get();
}

Result<void> VerbsContext::add_pool(BufferPool& pool) {
  pools_.push_back(&pool);
  for (auto& device : devices_) TRY(device->regions().add(pool.memory()));
  return {};
}

Result<void> VerbsContext::check_wanted(const std::string& name) const {
  if (options_.device.empty() || options_.device == name) return {};
  return fail(Error::local(ENODEV, "RDMA device",
                           fmt::format("the route goes through {}, and device={} was asked for",
                                       name, options_.device)));
}

Result<std::shared_ptr<Device>> VerbsContext::device_of(const rdma_cm_id& id) {
  if (id.verbs == nullptr) {
    return fail(Error::local(ENODEV, "RDMA device", "the address is not behind one"));
  }
  TRY(check_wanted(::ibv_get_device_name(id.verbs->device)));
  for (auto& device : devices_) {
    if (device->context() == id.verbs) return device;
  }
  auto opened = Device::open(reactor_, id.verbs, options_.registration);
  if (!opened) return opened;
  std::size_t bytes = 0;
  for (const BufferPool* pool : pools_) bytes += pool->memory().size();
  (*opened)->regions().expect(bytes);
  for (BufferPool* pool : pools_) TRY((*opened)->regions().add(pool->memory()));
  devices_.push_back(*opened);
  device_lost_ = false;
  return opened;
}

void VerbsContext::forget(const Device* device) {
  forget_those([device](const auto& each) { return each.get() == device; });
}

void VerbsContext::forget_idle() {
  forget_those([](const auto& each) { return each.use_count() == 1; });
  if (device_lost_) close_removed_devices();
}

template <class Condition>
void VerbsContext::forget_those(Condition condition) {
  std::erase_if(devices_, [&](const auto& each) {
    if (!condition(each)) return false;
    each->note_removed();
    return device_lost_ = true;
  });
}

void VerbsContext::close() {
  pools_.clear();
  devices_.clear();
}

}  // namespace nfsrdma::fabric::verbs
