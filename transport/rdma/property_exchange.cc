#include "transport/rdma/property_exchange.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "transport/base/log.h"

namespace nfsrdma::rdma {
namespace {

/// Places of the own CONNPROP whose values stay: all but the receive size, which comes first.
constexpr std::uint32_t kNoChange = 0b110;
constexpr std::uint32_t kOwnProperties = 3;

void set_bit(std::array<std::uint32_t, kMaxSubsetWords>& words, std::uint32_t index) {
  words[index / kSubsetWordBits] |= 1U << index % kSubsetWordBits;
}

/// The receive size that a peer announces, within sane limits (XP-7-1).
std::uint32_t believable(std::uint32_t size) {
  return std::clamp(size, kMinReceiveBufferSize, kMaxReceiveBufferSize);
}

}  // namespace

PropertyExchange::PropertyExchange(PropertyHost& host, const PropertyPolicy& policy)
    : host_(host), policy_(policy) {}

bool PropertyExchange::supports(std::uint32_t opttype) const {
  return is_property_operation(opttype) && policy_.supports[opttype];
}

void PropertyExchange::start() {
  started_ = true;
  connprop_due_ = policy_.speaks_first && supports(ROPT_CONNPROP);
  pump();
}

OptionAnswer PropertyExchange::on_optional(std::uint32_t xid, const RdmaOptional& optional,
                                           std::size_t payload) {
  if (!supports(optional.rdma_opttype)) return OptionAnswer::inval_option;
  OptInfo info;
  if (payload != 0 || !decode_optinfo(optional.rdma_opttype, optional.rdma_optinfo, info)) {
    return OptionAnswer::bad_header;
  }
  switch (optional.rdma_opttype) {
    case ROPT_CONNPROP: on_connprop(info); break;
    case ROPT_REQPROP: on_reqprop(xid, info); break;
    case ROPT_RESPROP:
      if (!on_resprop(xid, info)) return OptionAnswer::none;
      break;
    default: on_updprop(info); break;
  }
  host_.on_properties_changed();
  pump();
  return OptionAnswer::none;
}

void PropertyExchange::on_connprop(const OptInfo& info) {
  peer_ = {};
  peer_listed_count_ = 0;
  bool size_may_change = false;
  info.values.for_each([&](std::uint32_t index, const propval& property) {
    take_peer_value(property);
    if (property.pv_which == PROP_RBSIZ) size_may_change = !info.nochg.has(index);
    if (!peer_.find(property.pv_which) || peer_lists(property.pv_which)) return;
    peer_listed_[peer_listed_count_++] = property.pv_which;
  });
  if (!peer_advertised_ && !policy_.speaks_first && started_)
    connprop_due_ = supports(ROPT_CONNPROP);
  peer_advertised_ = true;
  // XP-4.1-5: do not ask for properties that are not listed, or that the peer keeps.
  if (supports(ROPT_REQPROP) && size_may_change &&
      peer_.receive_buffer_size < policy_.wanted_receive) {
    request_due_ = policy_.wanted_receive;
  }
}

void PropertyExchange::take_peer_value(const propval& property) {
  xdr::Decoder faults;
  std::uint32_t* value = peer_.find(property.pv_which);
  if (!value) return;  // unknown and experimental ids are passed over
  *value = property_value(property, faults).value_or(*value);
  if (property.pv_which == PROP_RBSIZ) *value = believable(*value);
}

bool PropertyExchange::peer_lists(std::uint32_t which) const {
  const auto* end = peer_listed_.data() + peer_listed_count_;
  return std::find(peer_listed_.data(), end, which) != end;
}

void PropertyExchange::on_updprop(const OptInfo& info) {
  info.values.for_each([&](std::uint32_t, const propval& property) {
    if (peer_lists(property.pv_which)) return take_peer_value(property);
    log::debug("the peer changes property {}, which it has not listed: ignored", property.pv_which);
  });
}

void PropertyExchange::on_reqprop(std::uint32_t xid, const OptInfo& info) {
  // Only one RESPROP can be waiting; a peer that asks again before it is answered, although it may
  // have only one message open, is answered for the older request first.
  if (disposition_.waiting) {
    disposition_.waiting = false;
    set_bit(disposition_.rej, disposition_.index);
    send_resprop();
  }
  disposition_.xid = xid;
  dispose_all(info.values);
  if (!disposition_.waiting) send_resprop();
}

void PropertyExchange::dispose_all(const PropvalSet& want) {
  disposition_.words = (want.count() + kSubsetWordBits - 1) / kSubsetWordBits;
  disposition_.done.fill(0);
  disposition_.rej.fill(0);
  disposition_.other.reset();
  want.for_each([this](std::uint32_t index, const propval& property) { dispose(index, property); });
}

void PropertyExchange::dispose(std::uint32_t index, const propval& property) {
  xdr::Decoder faults;
  const auto wanted = property_value(property, faults);
  const std::uint32_t* present = advertised_.find(property.pv_which);
  if (present && wanted && *present == *wanted) return set_bit(disposition_.done, index);
  if (present && wanted && property.pv_which == PROP_RBSIZ) {
    return dispose_receive_size(index, *wanted);
  }
  set_bit(disposition_.rej, index);
}

/// Larger: when older receives are used up, as far as this side goes. Smaller: at once, since the
/// peer keeps to the smaller size already (XP-3.1-4).
void PropertyExchange::dispose_receive_size(std::uint32_t index, std::uint32_t wanted) {
  const std::uint32_t present = advertised_.receive_buffer_size;
  const std::uint32_t target =
      std::clamp(wanted, kMinReceiveBufferSize, std::max(present, policy_.most_receive));
  if (target == present || disposition_.waiting || raising_) {
    return set_bit(disposition_.rej, index);
  }
  if (target > present) {
    disposition_.waiting = true;
    disposition_.index = index;
    disposition_.wanted = wanted;
    return raise(target);
  }
  advertised_.receive_buffer_size = target;
  if (target == wanted) return set_bit(disposition_.done, index);
  disposition_.other = target;
}

void PropertyExchange::raise(std::uint32_t size) {
  raising_ = size;
  if (host_.raise_receives(size)) finish_raise();
}

void PropertyExchange::on_receives_raised() {
  if (!raising_) return;
  const bool asked = disposition_.waiting;
  finish_raise();
  if (asked) send_resprop();
  host_.on_properties_changed();
  pump();
}

void PropertyExchange::finish_raise() {
  const std::uint32_t size = *raising_;
  raising_.reset();
  if (!disposition_.waiting) {
    if (supports(ROPT_UPDPROP)) update_due_ = size;
    return;
  }
  advertised_.receive_buffer_size = size;
  disposition_.waiting = false;
  if (advertised_.receive_buffer_size == disposition_.wanted) {
    set_bit(disposition_.done, disposition_.index);
  } else {
    disposition_.other = advertised_.receive_buffer_size;
  }
}

void PropertyExchange::send_resprop() {
  xdr::Encoder out = optinfo();
  encode_propvalsubset(out, {disposition_.done.data(), disposition_.words});
  encode_propvalsubset(out, {disposition_.rej.data(), disposition_.words});
  out.u32(disposition_.other ? 1 : 0);
  if (disposition_.other) encode_propval(out, PROP_RBSIZ, *disposition_.other);
  send(disposition_.xid, ROPT_RESPROP, out);
}

bool PropertyExchange::on_resprop(std::uint32_t xid, const OptInfo& info) {
  if (!open_ || open_->opttype != ROPT_REQPROP || open_->xid != xid) {
    log::debug("dropped a RESPROP with XID {:#x}, which no request waits for", xid);
    return false;
  }
  // The request had one value, at place 0. A value in none or in several of the three is rejected
  // (XP-4.3-7); values of other properties do not count (XP-4.3-5).
  std::optional<std::uint32_t> other;
  info.values.for_each([&](std::uint32_t, const propval& property) {
    xdr::Decoder faults;
    if (property.pv_which == PROP_RBSIZ) other = property_value(property, faults);
  });
  const bool done = info.done.has(0);
  const bool rejected = info.rej.has(0);
  if (done && !rejected && !other) peer_.receive_buffer_size = believable(*requested_);
  if (other && !rejected && !done) peer_.receive_buffer_size = believable(*other);
  requested_.reset();
  open_.reset();
  return true;
}

bool PropertyExchange::on_error(std::uint32_t xid, rpc_rdma_errcode code) {
  for (std::uint32_t opttype = ROPT_CONNPROP; opttype < kOptionTypes; ++opttype) {
    if (!was_sent_[opttype] || sent_xids_[opttype] != xid) continue;
    refused_[opttype] = true;
    was_sent_[opttype] = false;
    if (opttype == ROPT_CONNPROP) advertised_ = {};
    if (opttype == ROPT_REQPROP) requested_.reset();
    if (opttype == ROPT_UPDPROP) advertised_.receive_buffer_size = kMinReceiveBufferSize;
    if (open_ && open_->xid == xid) open_.reset();
    log::info("the peer refused property operation {}: {}", opttype,
              code == RDMA_ERR_INVAL_OPTION ? "not supported" : "cannot be decoded");
    host_.on_properties_changed();
    pump();
    return true;
  }
  return false;
}

void PropertyExchange::on_later_message() {
  if (open_ && open_->opttype != ROPT_REQPROP) open_.reset();
  pump();
}

void PropertyExchange::pump() {
  if (!started_ || open_) return;
  send_due();
}

void PropertyExchange::send_due() {
  xdr::Encoder out = optinfo();
  if (connprop_due_) {
    out.u32(kOwnProperties);
    encode_propval(out, PROP_RBSIZ, policy_.own.receive_buffer_size);
    encode_propval(out, PROP_REQREMINV, policy_.own.requester_remote_invalidation);
    encode_propval(out, PROP_BRS, policy_.own.backward_request_support);
    encode_propvalsubset(out, {&kNoChange, 1});
    if (!open(ROPT_CONNPROP, out)) return;
    connprop_due_ = false;
    advertised_ = policy_.own;
    return host_.on_properties_changed();
  }
  const bool update = update_due_ && !refused_[ROPT_UPDPROP];
  if (!update && (!request_due_ || refused_[ROPT_REQPROP])) return;
  out.u32(1);
  encode_propval(out, PROP_RBSIZ, update ? *update_due_ : *request_due_);
  if (!open(update ? ROPT_UPDPROP : ROPT_REQPROP, out)) return;
  if (update) {
    advertised_.receive_buffer_size = *std::exchange(update_due_, std::nullopt);
  } else {
    requested_ = std::exchange(request_due_, std::nullopt);
  }
  host_.on_properties_changed();
}

/// False when it may not go out now.
bool PropertyExchange::open(std::uint32_t opttype, const xdr::Encoder& optinfo) {
  if (!host_.may_send_optional()) return false;
  open_ = Open{host_.optional_xid(), opttype};
  send(open_->xid, opttype, optinfo);
  return true;
}

void PropertyExchange::send(std::uint32_t xid, std::uint32_t opttype, const xdr::Encoder& optinfo) {
  assert(optinfo.ok() && "the memory holds the longest answer");
  sent_xids_[opttype] = xid;
  was_sent_[opttype] = opttype != ROPT_RESPROP;  // a RESPROP has the peer's XID
  host_.send_optional(xid, {opttype, optinfo.encoded()});
}

void PropertyExchange::request_receive_size(std::uint32_t size) {
  if (supports(ROPT_REQPROP)) request_due_ = size;
  pump();
}

void PropertyExchange::update_receive_size(std::uint32_t size) {
  if (raising_ || size <= advertised_.receive_buffer_size) return;
  raise(size);
  pump();
}

std::uint32_t PropertyExchange::send_limit() const {
  return std::min(peer_.receive_buffer_size, requested_.value_or(peer_.receive_buffer_size));
}

void PropertyExchange::infer_backward_support(bool call_has_chunks) {
  if (peer_lists(PROP_BRS)) return;
  if (call_has_chunks) peer_.backward_request_support = BKREQSUP_GENL;
}

}  // namespace nfsrdma::rdma
