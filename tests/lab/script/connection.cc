#include "tests/lab/script/connection.h"

#include <algorithm>
#include <array>

namespace nfsrdma::lab::script {

Result<void> Connection::open(Duration patience) {
  peer_.reset();
  calls_.clear();
  stream_.clear();
  stream_frame_ = 0;
  auto peer = network_.connect(options_);
  if (!peer) return fail_from(peer);
  peer_ = std::move(*peer);
  network_.until(patience, [&] { return peer_->up() || peer_->down(); });
  if (peer_->up()) return {};
  if (peer_->down()) return fail(*peer_->down());
  return fail(Error{Layer::fabric, static_cast<int>(net::Fault::timed_out), "connect", {}});
}

Result<void> Connection::send(SentCall call) {
  const auto xid = call.xid;
  SentCall& kept = calls_[xid];
  kept = std::move(call);
  return peer_->send(kept.message);
}

void Connection::sort() {
  if (!peer_) return;
  auto& arrived = peer_->arrived();
  while (!arrived.empty()) {
    const Arrived message = std::move(arrived.front());
    arrived.pop_front();
    if (peer_->carrier() == Carrier::socket) {
      if (stream_.size() > kMostStream) continue;
      stream_.insert(stream_.end(), message.bytes.begin(), message.bytes.end());
      stream_frame_ = message.frame;
      continue;
    }
    const Sorted sorted = sort_message(message.bytes, peer_->carrier());
    if (sorted.kind == MessageKind::call) {
      if (callbacks_.size() < kMostKept) {
        callbacks_.push_back(describe_callback(message, peer_->carrier()));
      }
      const Bytes answer = answer_ ? answer_callback(message, peer_->carrier()) : Bytes();
      // A connection that has ended meanwhile tells so itself.
      if (!answer.empty()) (void)peer_->send(answer);
      continue;
    }
    const auto call = calls_.find(sorted.xid);
    Node content =
        describe_reply(message, call == calls_.end() ? nullptr : &call->second, peer_->carrier());
    if (replies_.size() >= kMostKept) replies_.erase(replies_.begin());
    Reply& reply = replies_[sorted.xid];
    reply = {sorted.xid, std::move(content), message.bytes, message.frame};
    if (on_reply) on_reply(reply);
  }
}

bool Connection::until(Duration patience, const std::function<bool()>& condition) {
  return network_.until(patience, [&] {
    sort();
    return condition();
  });
}

const Reply* Connection::reply(std::uint32_t xid) const {
  const auto found = replies_.find(xid);
  return found == replies_.end() ? nullptr : &found->second;
}

Node describe_private_data(std::span<const std::byte> data) {
  // RFC 8797 section 4: the format identifier, and behind it the version.
  constexpr std::array kMagic = {std::byte{0xf6}, std::byte{0xab}, std::byte{0x0e},
                                 std::byte{0x18}};
  const auto found = std::search(data.begin(), data.end(), kMagic.begin(), kMagic.end());
  const bool present = data.end() - found >= static_cast<std::ptrdiff_t>(rdma::kPrivateDataSize);
  const auto read = rdma::decode_private_data(data);
  Node node;
  node.add("present", Node::number(present ? 1 : 0));
  if (present) {
    node.add("version", Node::number(std::to_integer<std::uint64_t>(found[kMagic.size()])));
  }
  node.add("R", Node::number(read.remote_invalidation ? 1 : 0));
  node.add("send", Node::number(read.send_size));
  node.add("recv", Node::number(read.receive_size));
  node.add("bytes", Node::word(to_hex(data)));
  return node;
}

}  // namespace nfsrdma::lab::script
