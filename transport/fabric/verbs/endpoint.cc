#include "transport/fabric/verbs/endpoint.h"

#include "transport/fabric/verbs/fault.h"

namespace nfsrdma::fabric::verbs {

VerbsEndpoint::VerbsEndpoint(std::shared_ptr<VerbsContext> context, EndpointHandler& handler,
                             const EndpointOptions& options)
    : context_(std::move(context)),
      handler_(handler),
      completions_(counters_, *this),
      receives_(counters_),
      sends_(counters_),
      turn_(context_->reactor(), [this] { turn(); }),
      timer_(context_->reactor(), [this] { on_close_timer(); }),
      private_data_(options.private_data.begin(), options.private_data.end()),
      connect_timeout_(options.connect_timeout),
      ird_(options.ird),
      ord_(options.ord) {}

VerbsEndpoint::~VerbsEndpoint() { release_everything(); }

Result<void> VerbsEndpoint::check_open() const {
  if (phase_ == Phase::open || phase_ == Phase::accepting) return {};
  if (phase_ == Phase::connecting) {
    return fail(connection_error(Fault::resources, "not connected yet"));
  }
  return fail(reason_);
}

/// Closes the connection if a request could not be posted.
Result<void> VerbsEndpoint::posted(Result<void> result) {
  if (!result) {
    close_for(result.error());
  } else if (!in_event_) {
    turn_.schedule();
  }
  return result;
}

Result<void> VerbsEndpoint::post_receive(ReceiveBuffer& buffer) {
  if (phase_ >= Phase::closing) return fail(reason_);
  receives_.lend(buffer);
  return posted({});
}

Result<void> VerbsEndpoint::post_send(const SendWork& work) {
  TRY(check_open());
  for (Lease* lease : work.leases) registration_->bind(*lease, sends_);
  return posted(sends_.push_send(work));
}

bool VerbsEndpoint::answered(void* context) { return sends_.end_by_answer(context); }

Result<void> VerbsEndpoint::post_write(std::span<const std::span<const std::byte>> pieces,
                                       const Segment& to) {
  TRY(check_open());
  return posted(sends_.push_write(pieces, to));
}

Result<void> VerbsEndpoint::post_read(std::span<std::byte> into, const Segment& from,
                                      void* context) {
  TRY(check_open());
  return posted(sends_.push_read(into, from, context));
}

Result<void> VerbsEndpoint::prepare(Lease& lease, std::span<std::byte> memory, Access access) {
  TRY(check_open());
  return registration_->prepare(lease, memory, access);
}

void VerbsEndpoint::cancel(Lease& lease) { registration_->cancel(lease); }

bool VerbsEndpoint::invalidate(Lease& lease) {
  const bool free = registration_->invalidate(lease, sends_);
  if (!free && !in_event_) turn_.schedule();
  return free;
}

bool VerbsEndpoint::remote_invalidation_safe() const {
  return device_ && device_->tier() == Tier::windows;
}

void VerbsEndpoint::on_completions() {
  completions_.note_event();
  in_event_ = true;
  poll();
  in_event_ = false;
  turn();
}

void VerbsEndpoint::poll() {
  if (completions_.get() == nullptr) return;
  auto more = completions_.poll();
  if (!more) return fail_with(std::move(more.error()));
  polling_wanted_ = *more;
  tell_ended();
}

void VerbsEndpoint::on_completion(const ibv_wc& completion) {
  if (completion.status != IBV_WC_SUCCESS) return on_failed_completion(completion);
  if (SendQueue::is_send_id(completion.wr_id)) return sends_.complete(completion.wr_id);
  on_received(completion);
}

void VerbsEndpoint::on_received(const ibv_wc& completion) {
  if (phase_ >= Phase::closing) return;  // release_everything() gives the buffer back
  // An RDMA Write with an immediate value takes a buffer, fills nothing into it, and has the length
  // of what was written elsewhere: memory of others would be taken for a message.
  if (completion.opcode != IBV_WC_RECV) {
    return fail_with(connection_error(Fault::protocol, "the peer sent an immediate value"));
  }
  std::optional<std::uint32_t> invalidated;
  if (device_->invalidated(completion)) {
    invalidated = completion.invalidated_rkey;
    if (!registration_->invalidated_by_peer(*invalidated)) {
      return fail_with(connection_error(Fault::protocol,
                                        "the peer invalidated a handle that it could not know"));
    }
  }
  tell_ended();  // requests that completed before the message came are reported before it
  if (phase_ >= Phase::closing) return;
  ReceiveBuffer& buffer = receives_.complete(completion.wr_id);
  counters_.receives.add();
  handler_.on_receive(buffer, completion.byte_len, invalidated);
}

void VerbsEndpoint::tell_ended() {
  SendQueue::Ended ended;
  while (phase_ < Phase::closing && sends_.take_ended(ended)) {
    switch (ended.kind) {
      case WorkKind::send:
      case WorkKind::send_invalidate: handler_.on_send_done(ended.context); break;
      case WorkKind::read: handler_.on_read_done(ended.context); break;
      case WorkKind::invalidate:
        registration_->invalidated(*ended.lease);
        handler_.on_invalidated(*ended.lease);
        break;
      case WorkKind::write:
      case WorkKind::bind: break;
    }
  }
}

/// Runs once after the events of a turn: polls, and posts the requests that the turn has queued.
void VerbsEndpoint::turn() {
  if (phase_ == Phase::closed) return;
  if (polling_wanted_ && !in_event_) {
    in_event_ = true;
    poll();
    in_event_ = false;
  }
  if (auto flushed = flush(); !flushed) fail_with(std::move(flushed.error()));
  if (phase_ == Phase::closing && (broken_ || sends_.idle())) send_disconnect();
  if (finishing_) return finish();
  if (polling_wanted_) turn_.schedule();
}

/// Posts receives before sends, because an answer may come at once.
Result<void> VerbsEndpoint::flush() {
  if (broken_ || queue_pair() == nullptr) return {};
  if (phase_ < Phase::closing) {
    TRY(receives_.post(queue_pair(), receive_room_, device_->regions()));
  }
  if (accept_wanted_) return accept_now();
  if (phase_ == Phase::open || phase_ == Phase::closing) return sends_.post();
  return {};
}

void VerbsEndpoint::visit_counters(CounterVisitor& visitor) const {
  counters_.visit(visitor);
  if (device_name_.empty()) return;
  const bool windows = tier_ == Tier::windows;
  visitor.visit("tier_memory_windows", windows ? 1 : 0);
  visitor.visit("tier_static_keys", windows ? 0 : 1);
  visitor.visit("device_" + device_name_, 1);
}

}  // namespace nfsrdma::fabric::verbs
