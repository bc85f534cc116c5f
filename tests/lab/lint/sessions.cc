#include "tests/lab/lint/sessions.h"

namespace nfsrdma::lab {
namespace {

/// What a call asks, also where the event is its reply.
const CompoundArguments* asked_of(const RpcEvent& rpc) {
  return rpc.arguments ? &*rpc.arguments : rpc.asked;
}

/// After these the next number comes: the answer is to this request, or to another that had its
/// number.
bool uses_number(nfs4::nfsstat4 status) {
  return status == nfs4::NFS4_OK || status == nfs4::NFS4ERR_SEQ_FALSE_RETRY ||
         status == nfs4::NFS4ERR_RETRY_UNCACHED_REP;
}

}  // namespace

SessionEvent Sessions::look_up(const RpcEvent& rpc) const {
  SessionEvent event{rpc, nullptr, nullptr, nullptr, {}};
  const CompoundArguments* asked = asked_of(rpc);
  if (asked == nullptr) return event;
  const auto client = next_create_.find(asked->client_id);
  if (client != next_create_.end()) event.next_create = client->second;
  if (!asked->sequence) return event;
  const auto found = sessions_.find(asked->sequence->sa_sessionid);
  if (found == sessions_.end()) return event;
  event.session = &found->second;
  event.channel = asked->callback ? &found->second.back : &found->second.fore;
  const auto slot = event.channel->slots.find(asked->sequence->sa_slotid);
  if (slot != event.channel->slots.end()) event.slot = &slot->second;
  return event;
}

void Sessions::take(const RpcEvent& rpc) {
  if (rpc.seen.direction == Direction::call) return take_call(rpc);
  take_reply(rpc);
}

Channel* Sessions::channel_of(const CompoundArguments& asked) {
  if (!asked.sequence) return nullptr;
  if (sessions_.size() >= kMost && !sessions_.contains(asked.sequence->sa_sessionid)) {
    sessions_.erase(sessions_.begin());
  }
  Session& session = sessions_[asked.sequence->sa_sessionid];
  return asked.callback ? &session.back : &session.fore;
}

void Sessions::take_call(const RpcEvent& rpc) {
  if (!rpc.arguments) return;
  Channel* channel = channel_of(*rpc.arguments);
  if (channel == nullptr) return;
  const nfs4::SEQUENCE4args& sequence = *rpc.arguments->sequence;
  if (channel->slots.size() >= kMostSlots && !channel->slots.contains(sequence.sa_slotid)) return;
  Slot& slot = channel->slots[sequence.sa_slotid];
  slot.pending = sequence.sa_sequenceid;
  slot.connection = rpc.conversation.info().number;
}

void Sessions::take_reply(const RpcEvent& rpc) {
  if (rpc.asked == nullptr) return;
  if (rpc.asked->sequence) take_sequence_result(rpc);
  if (!rpc.results) return;
  if (rpc.results->client_id &&
      (rpc.results->client_flags & nfs4::EXCHGID4_FLAG_CONFIRMED_R) == 0) {
    next_create_[*rpc.results->client_id] = rpc.results->client_sequence;
  }
  if (rpc.results->created) take_new_session(rpc);
  const bool ok = rpc.results->status == nfs4::NFS4_OK;
  if (ok && rpc.asked->destroyed) sessions_.erase(*rpc.asked->destroyed);
  if (ok && rpc.asked->bound) {
    const auto found = sessions_.find(*rpc.asked->bound);
    if (found != sessions_.end()) {
      found->second.backchannels.insert(rpc.conversation.info().number);
    }
  }
}

void Sessions::take_sequence_result(const RpcEvent& rpc) {
  Channel* channel = channel_of(*rpc.asked);
  const auto found = channel->slots.find(rpc.asked->sequence->sa_slotid);
  if (found == channel->slots.end()) return;
  Slot& slot = found->second;
  // An answer to a request that was sent again elsewhere meanwhile says the same.
  if (slot.pending != rpc.asked->sequence->sa_sequenceid) return;
  if (!rpc.results || !rpc.results->sequence) {
    // Whether it was executed is not known.
    slot = {};
    return;
  }
  if (uses_number(rpc.results->sequence->sr_status)) slot.last = slot.pending;
  slot.pending.reset();
}

void Sessions::take_transport_error(const CompoundArguments& asked) {
  Channel* channel = channel_of(asked);
  if (channel == nullptr) return;
  const auto found = channel->slots.find(asked.sequence->sa_slotid);
  if (found != channel->slots.end()) found->second = {};
}

void Sessions::take_new_session(const RpcEvent& rpc) {
  const CompoundResults& results = *rpc.results;
  next_create_[rpc.asked->client_id] = rpc.asked->create_sequence + 1;
  if (sessions_.size() >= kMost) sessions_.erase(sessions_.begin());
  Session session;
  session.made_here = true;
  session.fore.attributes = results.fore_channel;
  session.back.attributes = results.back_channel;
  if ((results.create_flags & nfs4::CREATE_SESSION4_FLAG_CONN_BACK_CHAN) != 0) {
    session.backchannels.insert(rpc.conversation.info().number);
  }
  sessions_[*results.created] = session;
}

}  // namespace nfsrdma::lab
