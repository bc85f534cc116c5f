#include "transport/tcp/receive_path.h"

#include <algorithm>
#include <cstring>

#include "transport/base/log.h"
#include "transport/rpc/message.h"

namespace nfsrdma::tcp {

std::size_t ReceivePath::lookahead() const {
  const std::size_t least = handler_.least_payload_offset();
  return least == SIZE_MAX ? least : RecordMark::kSize + least;
}

Checked<Place> ReceivePath::place(std::size_t rest) {
  switch (phase_) {
    case Phase::payload: return Place{payload_.subspan(payload_filled_), true};
    case Phase::pad: return Place{scratch_.span().first(pad_left_), true};
    case Phase::discard: return Place{scratch_.span(), true};
    case Phase::head:
    case Phase::rest: break;
  }
  const std::size_t wanted = phase_ == Phase::head ? wanted_ : filled_ + rest;
  auto room = make_room(wanted);
  if (!room) return violation(room.error());
  if (!*room) return Place{};
  return Place{memory_.subspan(filled_, wanted - filled_), phase_ == Phase::rest};
}

Checked<bool> ReceivePath::make_room(std::size_t bytes) {
  if (!received_.message) {
    Message* message = pools_.messages->take();
    if (!message) {
      if (!MessageWaiter::linked()) pools_.messages->wait(*this);
      return false;
    }
    received_.message.reset(message);
    memory_ = message->memory();
  }
  if (bytes <= memory_.size()) return true;
  if (is_call_) return violation("a callback longer than was agreed");
  if (bytes > pools_.large.slot_size()) return violation("a reply longer than any can be");
  Buffer large = pools_.large.acquire();
  if (!large) {
    if (!BufferWaiter::linked()) pools_.large.wait(*this);
    return false;
  }
  if (filled_ > 0) std::memcpy(large.data(), memory_.data(), filled_);
  memory_ = large.bytes();
  received_.large = std::move(large);
  counters_.large_replies.add();
  return true;
}

Checked<> ReceivePath::filled(std::size_t bytes, bool copied) {
  switch (phase_) {
    case Phase::discard: return {};
    case Phase::payload:
      payload_filled_ += bytes;
      if (copied) count_copy(bytes);
      if (payload_filled_ == payload_.size()) phase_ = pad_left_ > 0 ? Phase::pad : Phase::rest;
      return {};
    case Phase::pad:
      // Bytes of a pad are skipped unread: they are copied nowhere.
      pad_left_ -= bytes;
      if (pad_left_ == 0) phase_ = Phase::rest;
      return {};
    case Phase::head: filled_ += bytes; return filled_ == wanted_ ? decide() : Checked<>{};
    case Phase::rest: filled_ += bytes; return {};
  }
  return {};
}

void ReceivePath::count_copy(std::size_t bytes) {
  if (context_->call->result_sink.size() > kCopyAtMost) {
    counters_.payload_copies.add();
  } else {
    counters_.payload_bytes_copied.add(bytes);
  }
}

Checked<> ReceivePath::decide() {
  if (!context_) {
    if (auto known = identify(); !known || phase_ != Phase::head) return known;
  }
  return filled_ == wanted_ ? locate() : Checked<>{};
}

Checked<> ReceivePath::identify() {
  xdr::Decoder in(memory_.first(filled_));
  xid_ = in.u32("xid");
  const auto type = static_cast<rpc::MessageType>(in.u32("msg_type"));
  if (type == rpc::MessageType::call) {
    is_call_ = true;
    phase_ = Phase::rest;
    return {};
  }
  if (type != rpc::MessageType::reply) return violation("neither call nor reply");
  context_ = handler_.find_open(xid_);
  if (!context_) {
    counters_.bad_xids.add();
    log::debug("dropped a reply with XID {:#x}, which no call waits for", xid_);
    phase_ = Phase::discard;
    return {};
  }
  const rpc::Call& call = *context_->call;
  if (!call.locator || call.result_sink.empty()) {
    phase_ = Phase::rest;
  } else {
    wanted_ = std::clamp(call.locator->least_offset, kIdentity, memory_.size());
  }
  return {};
}

Checked<> ReceivePath::locate() {
  const rpc::Call& call = *context_->call;
  const rpc::PayloadPlace place = call.locator->locate(memory_.first(filled_));
  using Kind = rpc::PayloadPlace::Kind;
  if (place.kind == Kind::unknown && place.bytes > filled_ && place.bytes <= memory_.size()) {
    wanted_ = place.bytes;
    return {};
  }
  phase_ = Phase::rest;
  // Everything else stays in the message, where the decoder judges it.
  if (place.kind != Kind::found || place.bytes != filled_) return {};
  if (place.length > call.result_sink.size()) return violation("more data than was asked for");
  payload_ = call.result_sink.first(place.length);
  pad_left_ = xdr::pad_of(place.length);
  received_.payload = place.length;
  if (place.length > 0) phase_ = Phase::payload;
  return {};
}

Checked<> ReceivePath::end_of_record() {
  counters_.records.add();
  if (phase_ == Phase::discard) {
    reset();
    return {};
  }
  if (phase_ == Phase::payload || phase_ == Phase::pad) {
    return violation("a reply that ends before its data does");
  }
  if (filled_ < kIdentity) return violation("a record too short for a message");
  received_.bytes = memory_.first(filled_);
  Received received = std::move(received_);
  CallContext* context = context_;
  const std::uint32_t xid = xid_;
  reset();
  if (context) {
    handler_.on_reply(*context, std::move(received));
  } else {
    handler_.on_call(xid, std::move(received));
  }
  return {};
}

void ReceivePath::reset() {
  phase_ = Phase::head;
  context_ = nullptr;
  received_ = {};
  memory_ = {};
  filled_ = 0;
  wanted_ = kIdentity;
  payload_ = {};
  payload_filled_ = pad_left_ = 0;
  is_call_ = false;
}

void ReceivePath::clear() {
  BufferWaiter::unlink();
  MessageWaiter::unlink();
  reset();
}

}  // namespace nfsrdma::tcp
