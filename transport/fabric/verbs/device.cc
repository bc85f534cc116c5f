#include "transport/fabric/verbs/device.h"

#include <algorithm>
#include <cerrno>

#include "transport/base/log.h"
#include "transport/fabric/verbs/fault.h"

namespace nfsrdma::fabric::verbs {
namespace {

/// So many events are handled before other descriptors get their turn.
constexpr int kAsyncEventsPerTurn = 64;

/// Linux rxe. It marks a completion with an invalidation by the kernel's flag, whose bit is
/// IBV_WC_IP_CSUM_OK in user space; that flag has no meaning for connected queue pairs.
constexpr std::uint32_t kVendorRxe = 0xffffff;

bool has_type_two_windows(const ibv_device_attr& attributes) {
  constexpr unsigned kTypeTwo = IBV_DEVICE_MEM_WINDOW_TYPE_2A | IBV_DEVICE_MEM_WINDOW_TYPE_2B;
  return attributes.max_mw > 0 && (attributes.device_cap_flags & kTypeTwo) != 0;
}

std::uint8_t read_depth(int value) {
  constexpr int kMost = 255;
  return static_cast<std::uint8_t>(std::clamp(value, 0, kMost));
}

Result<ibv_device_attr> attributes_of(ibv_context* context) {
  ibv_device_attr attributes{};
  const int rc = ::ibv_query_device(context, &attributes);
  if (rc != 0) return fail(call_error(rc, "ibv_query_device"));
  return attributes;
}

}  // namespace

Result<Tier> Device::tier_of(ibv_context* context, RegistrationChoice choice) {
  if (choice == RegistrationChoice::static_keys) return Tier::static_keys;
  auto attributes = attributes_of(context);
  if (!attributes) return fail_from(attributes);
  if (has_type_two_windows(*attributes)) return Tier::windows;
  if (choice == RegistrationChoice::automatic) return Tier::static_keys;
  return fail(Error::local(EOPNOTSUPP, ::ibv_get_device_name(context->device),
                           "the device has no type-2 memory windows; use rdma_reg=auto"));
}

Result<std::shared_ptr<Device>> Device::open(Reactor& reactor, ibv_context* context,
                                             RegistrationChoice choice) {
  auto tier = tier_of(context, choice);
  if (!tier) return fail_from(tier);
  std::shared_ptr<Device> device(new Device(reactor, context, *tier));
  TRY(device->start());
  log::info("RDMA device {}: {}", device->name(), tier_name(*tier));
  return device;
}

Device::Device(Reactor& reactor, ibv_context* context, Tier tier)
    : reactor_(reactor), context_(context), tier_(tier) {}

Device::~Device() {
  if (completions_) reactor_.unwatch(completions_->fd);
}

Result<void> Device::start() {
  auto attributes = attributes_of(context_);
  if (!attributes) return fail_from(attributes);
  limits_.work_requests = static_cast<std::uint32_t>(attributes->max_qp_wr);
  limits_.completions = static_cast<std::uint32_t>(attributes->max_cqe);
  limits_.pieces = static_cast<std::uint32_t>(attributes->max_sge);
  limits_.reads_in = read_depth(attributes->max_qp_rd_atom);
  limits_.reads_out = read_depth(attributes->max_qp_init_rd_atom);
  if (attributes->vendor_id == kVendorRxe) invalidation_flags_ |= IBV_WC_IP_CSUM_OK;
  auto open = OpenDevice::of(reactor_, context_);
  if (!open) return fail_from(open);
  open_ = std::move(*open);
  domain_.reset(::ibv_alloc_pd(context_));
  if (!domain_) return fail(call_error(errno, "ibv_alloc_pd"));
  regions_ = std::make_unique<MemoryRegions>(domain_.get(), tier_);
  completions_.reset(::ibv_create_comp_channel(context_));
  if (!completions_) return fail(call_error(errno, "ibv_create_comp_channel"));
  return watch_events(reactor_, completions_->fd, *this);
}

void Device::on_ready(std::uint32_t) {
  const auto alive = shared_from_this();  // an event may end the last connection, and this with it
  for (int round = 0; round < kAsyncEventsPerTurn; ++round) {
    ibv_cq* queue = nullptr;
    void* user = nullptr;
    if (::ibv_get_cq_event(completions_.get(), &queue, &user) != 0) return;
    // A queue with an unacknowledged event cannot be destroyed.
    ::ibv_ack_cq_events(queue, 1);
    static_cast<DeviceUser*>(user)->on_completions();
  }
}

}  // namespace nfsrdma::fabric::verbs
