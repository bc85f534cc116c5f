// How a connection comes to be: address, route, queue pair, then the connection manager's
// handshake; or, for the responder, the queue pair and the acceptance.
#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "transport/base/log.h"
#include "transport/fabric/verbs/address.h"
#include "transport/fabric/verbs/endpoint.h"
#include "transport/fabric/verbs/fault.h"
#include "transport/fabric/verbs/route.h"

namespace nfsrdma::fabric::verbs {
namespace {

/// Enough for the largest number of credits. The queues of a device may be shorter; requests that
/// do not fit wait.
constexpr std::uint32_t kQueueDepth = 1024;
/// As the Linux client does. Packets without an acknowledgement are repeated; a message for which
/// the peer has no receive is not, because that would hide a defect of the credits (V1-3.3.1-10).
constexpr std::uint8_t kRetries = 6;
constexpr std::uint8_t kReceiverNotReadyRetries = 0;

/// The length field allows no more; InfiniBand and RoCE take less (IBA volume 1, 12.6).
constexpr std::size_t kMaxPrivateData = 255;

/// When the neighbour answers between the kernel's question and the kernel's note to wait for the
/// answer, the kernel looks again only when the time to resolve the address is over. That must be
/// before the time to connect is: a third, which is the 5 s of the Linux client.
constexpr int kResolvingPart = 3;

int milliseconds(Duration duration) {
  return static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(duration).count());
}

}  // namespace

void VerbsEndpoint::connect(const Address& peer) {
  peer_ = peer.text();
  timer_.arm(connect_timeout_);
  try_step(start_connecting(peer));
}

Result<void> VerbsEndpoint::start_connecting(const Address& peer) {
  auto route = find_route(peer, context_->options().device);
  if (!route) {
    context_->forget_idle();
    return fail_from(route);
  }
  auto tier = Device::tier_of(route->device(), context_->options().registration);
  if (!tier) return fail_from(tier);
  promised_ = *tier;
  auto events = context_->events();
  if (!events) return fail_from(events);
  auto id = (*events)->make_id(*this);
  if (!id) return fail_from(id);
  id_ = std::move(*id);
  // The kernel looks the route up again, from an address of the device that the user asked for.
  sockaddr* source = context_->options().device.empty() ? nullptr : socket_address(route->local);
  Address target = peer;
  if (::rdma_resolve_addr(id_.get(), source, socket_address(target),
                          milliseconds(connect_timeout_ / kResolvingPart)) != 0) {
    return fail(call_error(errno, "rdma_resolve_addr", peer_));
  }
  return {};
}

void VerbsEndpoint::try_step(Result<void> result) {
  if (!result) fail_with(std::move(result.error()));
}

void VerbsEndpoint::on_event(const ConnectionEvent& event) {
  if (phase_ == Phase::closed) return;
  in_event_ = true;
  switch (event.type) {
    case RDMA_CM_EVENT_ADDR_RESOLVED: try_step(on_address_resolved()); break;
    case RDMA_CM_EVENT_ROUTE_RESOLVED: try_step(on_route_resolved()); break;
    case RDMA_CM_EVENT_ESTABLISHED: on_established(event); break;
    case RDMA_CM_EVENT_TIMEWAIT_EXIT: break;
    case RDMA_CM_EVENT_DISCONNECTED: on_peer_gone(event); break;
    case RDMA_CM_EVENT_DEVICE_REMOVAL:
      context_->forget(device_.get());
      fail_with(event_error(event));
      break;
    default: fail_with(event_error(event)); break;
  }
  in_event_ = false;
  turn();
}

Result<void> VerbsEndpoint::use_device() {
  auto device = context_->device_of(*id_);
  if (!device) return fail_from(device);
  device_ = std::move(*device);
  device_name_ = device_->name();
  tier_ = device_->tier();
  ird_ = std::min<std::uint32_t>(ird_, device_->limits().reads_in);
  ord_ = std::min<std::uint32_t>(ord_, device_->limits().reads_out);
  if (promised_ && *promised_ != device_->tier()) {
    return fail(connection_error(Fault::reset, "the route changed to another RDMA device"));
  }
  return {};
}

Result<void> VerbsEndpoint::on_address_resolved() {
  if (phase_ != Phase::connecting) return {};
  TRY(use_device());
  if (::rdma_resolve_route(id_.get(), milliseconds(connect_timeout_)) != 0) {
    return fail(call_error(errno, "rdma_resolve_route", peer_));
  }
  return {};
}

Result<void> VerbsEndpoint::make_queues() {
  if (private_data_.size() > kMaxPrivateData) {
    return fail(connection_error(Fault::resources, "too much private data"));
  }
  const auto& limits = device_->limits();
  const std::uint32_t depth = std::min({kQueueDepth, limits.work_requests, limits.completions / 2});
  TRY(completions_.open(*device_, *this, 2 * depth));
  ibv_qp_init_attr attributes{};
  attributes.send_cq = attributes.recv_cq = completions_.get();
  attributes.qp_type = IBV_QPT_RC;
  attributes.cap.max_send_wr = attributes.cap.max_recv_wr = depth;
  attributes.cap.max_send_sge = std::min<std::uint32_t>(limits.pieces, WorkItem::kMaxPieces);
  attributes.cap.max_recv_sge = 1;
  attributes.qp_context = this;
  if (::rdma_create_qp(id_.get(), device_->domain(), &attributes) != 0) {
    return fail(call_error(errno, "rdma_create_qp", device_name_));
  }
  receive_room_ = depth;
  sends_.configure(*device_, depth, attributes.cap.max_send_sge);
  sends_.start(id_->qp);
  registration_ = device_->tier() == Tier::windows ? make_window_registration(*device_, counters_)
                                                   : make_static_registration(*device_, counters_);
  device_->attach(*this);
  polling_wanted_ = true;  // polling arms the queue
  return {};
}

rdma_conn_param VerbsEndpoint::parameters() const {
  rdma_conn_param parameters{};
  parameters.private_data = private_data_.data();
  parameters.private_data_len = static_cast<std::uint8_t>(private_data_.size());
  parameters.responder_resources = static_cast<std::uint8_t>(ird_);
  parameters.initiator_depth = static_cast<std::uint8_t>(ord_);
  parameters.retry_count = kRetries;
  parameters.rnr_retry_count = kReceiverNotReadyRetries;
  return parameters;
}

Result<void> VerbsEndpoint::on_route_resolved() {
  if (phase_ != Phase::connecting) return {};
  TRY(make_queues());
  TRY(flush());
  rdma_conn_param wanted = parameters();
  if (::rdma_connect(id_.get(), &wanted) == 0) return {};
  if (errno == ECONNREFUSED) return fail(connection_error(Fault::refused, ""));
  return fail(call_error(errno, "rdma_connect", peer_));
}

Result<void> VerbsEndpoint::adopt(ConnectionId id, const ConnectionEvent& request) {
  id_ = std::move(id);
  EventChannel::set_handler(id_.get(), *this);
  phase_ = Phase::accepting;
  TRY(use_device());
  // No more than the initiator takes; here RFC 6581 and the connection manager mean the same.
  ird_ = std::min<std::uint32_t>(ird_, request.responder_resources);
  ord_ = std::min<std::uint32_t>(ord_, request.initiator_depth);
  TRY(make_queues());
  accept_wanted_ = true;
  timer_.arm(connect_timeout_);
  turn_.schedule();
  return {};
}

Result<void> VerbsEndpoint::accept_now() {
  accept_wanted_ = false;
  rdma_conn_param agreed = parameters();
  if (::rdma_accept(id_.get(), &agreed) == 0) return {};
  return fail(call_error(errno, "rdma_accept"));
}

void VerbsEndpoint::on_established(const ConnectionEvent& event) {
  const bool initiator = phase_ == Phase::connecting;
  if (!initiator && phase_ != Phase::accepting) return;
  phase_ = Phase::open;
  timer_.cancel();
  if (!initiator) return;
  const std::string description =
      fmt::format("verbs {}, {}, {}", device_name_, tier_name(device_->tier()), peer_);
  // Linux siw reports the values that were asked for, and with the two exchanged.
  ord_ = std::min<std::uint32_t>(ord_, event.initiator_depth);
  ird_ = std::min<std::uint32_t>(ird_, event.responder_resources);
  handler_.on_established(ConnectionInfo{event.private_data(), ord_, ird_, description});
}

}  // namespace nfsrdma::fabric::verbs
