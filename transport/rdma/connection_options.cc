// The part of a connection that only version 2 has: RDMA_OPTIONAL and its effects.
#include "transport/rdma/connection.h"
#include "transport/rdma/fault.h"

namespace nfsrdma::rdma {
namespace {

std::uint32_t as_receive_buffer_size(std::size_t size) {
  return static_cast<std::uint32_t>(
      std::clamp<std::size_t>(size, kMinReceiveBufferSize, kMaxReceiveBufferSize));
}

std::size_t option_index(std::uint32_t opttype) {
  return is_property_operation(opttype) ? opttype : 0;
}

}  // namespace

/// Announces the size of the first posted receives: that of the private data where version 1 may be
/// spoken, else the least that every receiver of version 2 has.
PropertyPolicy Connection::property_policy(bool remote_invalidation) const {
  PropertyPolicy policy;
  policy.most_receive = as_receive_buffer_size(options_.receive_size);
  policy.wanted_receive = as_receive_buffer_size(options_.send_size);
  policy.own.requester_remote_invalidation = remote_invalidation ? 1 : 0;
  policy.supports = options_.property_operations;
  policy.own.backward_request_support = BKREQSUP_INLINE;
  if (options_.version != VersionChoice::two) {
    policy.own.receive_buffer_size = policy.most_receive;
  }
  return policy;
}

void Connection::prepare_version_two(bool remote_invalidation) {
  const PropertyPolicy policy = property_policy(remote_invalidation);
  const bool alone = options_.version == VersionChoice::two;
  link_.raise_receive_size(alone ? policy.own.receive_buffer_size : largest_receive(options_));
  properties_.emplace(static_cast<PropertyHost&>(*this), policy);
}

void Connection::start_properties() {
  properties_->start();
  properties_->update_receive_size(as_receive_buffer_size(options_.receive_size));
}

std::uint32_t Connection::optional_xid() {
  do {
    ++last_optional_xid_;
  } while (requester_.find(last_optional_xid_) != nullptr);
  return last_optional_xid_;
}

void Connection::send_optional(std::uint32_t xid, const RdmaOptional& optional) {
  counters_.messages.options_sent[option_index(optional.rdma_opttype)].add();
  control_header_.rdma_xid = xid;
  control_header_.rdma_vers = link_.version();
  control_header_.rdma_credit = requester_.credits().requested();
  control_header_.proc = RDMA_OPTIONAL;
  control_header_.optional = optional;
  control_.send(control_header_);
}

void Connection::on_optional(std::size_t payload) {
  counters_.messages.options_received[option_index(incoming_.optional.rdma_opttype)].add();
  switch (properties_->on_optional(incoming_.rdma_xid, incoming_.optional, payload)) {
    case OptionAnswer::none: return;
    case OptionAnswer::inval_option: return refuse_option(RDMA_ERR_INVAL_OPTION);
    case OptionAnswer::bad_header: return refuse_option(RDMA_ERR_BAD_HEADER);
  }
}

void Connection::refuse_option(rpc_rdma_errcode code) {
  counters_.options_refused.add();
  control_header_.rdma_xid = incoming_.rdma_xid;
  control_header_.rdma_vers = link_.version();
  control_header_.rdma_credit = requester_.credits().requested();
  control_header_.proc = RDMA_ERROR;
  control_header_.error = {code, 0, 0};
  control_.send(control_header_);
}

/// The server may send as much as this side has told it that it takes, once it has shown that it
/// knows the property; until then it may not have taken note (XP-4.1-2).
void Connection::on_properties_changed() {
  if (link_.version() == kVersionOne) return;
  Thresholds thresholds;
  thresholds.call = std::min<std::size_t>(options_.send_size, properties_->send_limit());
  thresholds.reply = properties_->peer_lists(PROP_RBSIZ) ? properties_->own().receive_buffer_size
                                                         : kMinReceiveBufferSize;
  thresholds.remote_invalidation = properties_->own().requester_remote_invalidation != 0;
  link_.establish(link_.version(), thresholds);
}

}  // namespace nfsrdma::rdma
