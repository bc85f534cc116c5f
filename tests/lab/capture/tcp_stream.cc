#include "tests/lab/capture/tcp_stream.h"

#include <algorithm>
#include <utility>

namespace nfsrdma::lab {
namespace {

/// The first sequence number is given this much room, so that what is before it does not wrap.
constexpr std::uint64_t kBase = std::uint64_t{1} << 32;

/// The sequence number as a place in the stream, near `next`.
std::uint64_t unwrap(std::uint64_t next, std::uint32_t sequence) {
  const auto distance = static_cast<std::int32_t>(sequence - static_cast<std::uint32_t>(next));
  return next + static_cast<std::uint64_t>(static_cast<std::int64_t>(distance));
}

}  // namespace

void TcpStreams::start(Stream& stream, const IpPacket& segment) {
  stream.started = true;
  stream.next = kBase + segment.tcp->sequence + (segment.tcp->syn ? 1 : 0);
  if (!segment.tcp->syn) stream.consumer->on_gap(0, segment.at);
}

void TcpStreams::add(Side from, const IpPacket& packet) {
  Stream& sender = stream(from);
  Stream& receiver = stream(other(from));
  if (!sender.started) start(sender, packet);
  if (packet.tcp->ack && receiver.started) {
    receiver.acknowledged =
        std::max(receiver.acknowledged, unwrap(receiver.next, packet.tcp->acknowledged));
  }
  if (!packet.payload.empty() && !packet.tcp->syn) {
    Segment segment{from, packet.at, unwrap(sender.next, packet.tcp->sequence), 0, {}};
    if (packet.tcp->ack && receiver.started) {
      segment.acknowledged = unwrap(receiver.next, packet.tcp->acknowledged);
    }
    segment.bytes.assign(packet.payload.begin(), packet.payload.end());
    const bool in_turn = waiting_.empty() || lacking() == from;
    if (in_turn && fits(segment)) {
      take(segment);
      bring_forward(from);
      take_waiting();
    } else {
      waiting_bytes_ += segment.bytes.size();
      waiting_.push_back(std::move(segment));
    }
  }
  if (waiting_.empty()) return;
  const Stream& late = stream(lacking());
  if (late.acknowledged > late.next) ++impatience_;
  while (impatience_ >= kPatience || waiting_bytes_ > kMostHeld ||
         waiting_.size() > kMostSegments) {
    give_up(packet.at);
  }
}

/// A segment waits for those before it, and for what its sender has had of the other side: an
/// acknowledgement is the first that tells of a hole. A FIN takes a number that no byte has.
bool TcpStreams::fits(const Segment& segment) {
  return in_order(segment) && segment.acknowledged <= stream(other(segment.from)).next + 1;
}

/// The side that has not said what the first waiting segment needs.
Side TcpStreams::lacking() {
  const Segment& first = waiting_.front();
  return in_order(first) ? other(first.from) : first.from;
}

void TcpStreams::take(const Segment& segment) {
  Stream& sender = stream(segment.from);
  const std::uint64_t known = sender.next - segment.sequence;
  if (known >= segment.bytes.size()) return;  // sent again
  const auto bytes = std::span(segment.bytes).subspan(known);
  sender.next += bytes.size();
  sender.consumer->on_bytes(bytes, segment.at);
}

void TcpStreams::take_waiting() {
  while (!waiting_.empty() && fits(waiting_.front())) {
    const Segment segment = std::move(waiting_.front());
    waiting_.pop_front();
    waiting_bytes_ -= segment.bytes.size();
    impatience_ = 0;
    take(segment);
  }
}

void TcpStreams::give_up(Moment at) {
  impatience_ = 0;
  if (waiting_.empty()) return;
  const Side side = lacking();
  // What is there of this side may have come in another order.
  const Segment& first = waiting_.front();
  const std::uint64_t needed = first.from == side ? first.sequence : first.acknowledged;
  std::uint64_t least = needed;
  for (const Segment& segment : waiting_) {
    if (segment.from == side) least = std::min(least, segment.sequence);
  }
  Stream& late = stream(side);
  // Each side may wait for the other: then it goes on with what the first needs.
  if (least <= late.next) least = needed;
  if (least > late.next) {
    late.consumer->on_gap(least - late.next, at);
    late.next = least;
  }
  bring_forward(side);
  take_waiting();
}

/// Takes what fits of this side from behind those that do not.
void TcpStreams::bring_forward(Side side) {
  while (!waiting_.empty() && !fits(waiting_.front())) {
    const auto next = std::find_if(waiting_.begin(), waiting_.end(), [&](const Segment& segment) {
      return segment.from == side && fits(segment);
    });
    if (next == waiting_.end()) return;
    const Segment segment = std::move(*next);
    waiting_.erase(next);
    waiting_bytes_ -= segment.bytes.size();
    take(segment);
  }
}

void TcpStreams::finish(Moment at) {
  while (!waiting_.empty()) give_up(at);
}

}  // namespace nfsrdma::lab
