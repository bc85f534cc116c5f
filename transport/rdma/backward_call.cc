#include "transport/rdma/backward_call.h"

#include <algorithm>
#include <cassert>

#include "transport/rdma/backward_responder.h"

namespace nfsrdma::rdma {
namespace {

/// NFSv4 callback versions that peers use: 1 of RFC 5662, 4 of the text of RFC 8881 (F-24).
constexpr std::uint32_t kLowestCallbackVersion = 1;
constexpr std::uint32_t kHighestCallbackVersion = 4;

}  // namespace

BackwardCallSlot::BackwardCallSlot(BackwardCallPool& pool, Buffer memory)
    : pool_(pool), memory_(std::move(memory)) {}

void BackwardCallSlot::start(BackwardResponder& responder, rpc::MessageRef message,
                             std::size_t max_message) {
  responder_ = &responder;
  message_ = std::move(message);
  header_ = {};
  const std::size_t room = std::min(max_message, memory_.size()) - kMinHeader;
  results_ = xdr::Encoder(memory_.bytes().subspan(kMinHeader, room));
}

void BackwardCallSlot::answer(rpc::AcceptStat status) {
  assert(!sending_ && "a callback is answered once");
  encode_answer(status);
  message_.reset();
  if (responder_) {
    responder_->send_reply(*this);
  } else {
    pool_.give_back(*this);
  }
}

void BackwardCallSlot::encode_answer(rpc::AcceptStat status) {
  // Nothing is DDP-eligible in a callback (RFC 8267 section 6.5.2); results that do not fit or
  // would need a chunk cannot be sent.
  const bool sendable = results_.ok() && results_.omitted().empty();
  if (status == rpc::AcceptStat::success && sendable) return;
  results_.rewind(0);
  if (status == rpc::AcceptStat::prog_mismatch) {
    rpc::encode_prog_mismatch(results_, header_.xid, kLowestCallbackVersion,
                              kHighestCallbackVersion);
    return;
  }
  const bool failed = status == rpc::AcceptStat::success;
  rpc::encode_accepted_reply(results_, header_.xid, failed ? rpc::AcceptStat::system_err : status);
}

void BackwardCallSlot::on_send_done() {
  assert(responder_);
  responder_->on_send_done(*this);
}

BackwardCallPool::BackwardCallPool(BufferPool& memory, std::size_t count) {
  slots_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    slots_.push_back(std::make_unique<BackwardCallSlot>(*this, memory.acquire()));
    free_.push_back(*slots_.back());
  }
}

BackwardCallSlot* BackwardCallPool::take() {
  BackwardCallSlot* slot = free_.pop_front();
  if (slot) ++in_use_;
  return slot;
}

void BackwardCallPool::give_back(BackwardCallSlot& slot) {
  assert(!slot.sending_ && !slot.linked() && "I4, I5: the provider still reads this reply");
  slot.responder_ = nullptr;
  slot.message_.reset();
  free_.push_front(slot);
  --in_use_;
}

}  // namespace nfsrdma::rdma
