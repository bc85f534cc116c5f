#include "tests/lab/capture/tcp_stream.h"

namespace nfsrdma::lab {
namespace {

/// The first sequence number is given this much room, so that what is before it does not wrap.
constexpr std::uint64_t kBase = std::uint64_t{1} << 32;

}  // namespace

std::uint64_t TcpStream::unwrap(std::uint32_t sequence) const {
  const auto distance = static_cast<std::int32_t>(sequence - static_cast<std::uint32_t>(next_));
  return next_ + static_cast<std::uint64_t>(static_cast<std::int64_t>(distance));
}

void TcpStream::add(const IpPacket& segment) {
  const TcpHeader& tcp = *segment.tcp;
  if (!started_) {
    started_ = true;
    next_ = kBase + tcp.sequence + (tcp.syn ? 1 : 0);
    if (!tcp.syn) consumer_.on_gap(0, segment.at);
  }
  if (!segment.payload.empty() && !tcp.syn) {
    take(unwrap(tcp.sequence), segment.payload, segment.at);
  }
}

void TcpStream::take(std::uint64_t at_sequence, std::span<const std::byte> bytes, Moment at) {
  if (at_sequence > next_) return hold(at_sequence, bytes, at);
  const std::uint64_t known = next_ - at_sequence;
  if (known >= bytes.size()) return;  // sent again
  bytes = bytes.subspan(known);
  next_ += bytes.size();
  consumer_.on_bytes(bytes, at);
  if (!held_.empty()) hand_over_held();
}

void TcpStream::hold(std::uint64_t at_sequence, std::span<const std::byte> bytes, Moment at) {
  const auto [place, added] = held_.try_emplace(at_sequence);
  if (!added && place->second.bytes.size() >= bytes.size()) return;
  held_bytes_ += bytes.size() - place->second.bytes.size();
  place->second = {std::vector<std::byte>(bytes.begin(), bytes.end()), at};
  while (held_bytes_ > kMostHeld) skip_gap(at);
}

void TcpStream::hand_over_held() {
  while (!held_.empty() && held_.begin()->first <= next_) {
    const auto node = held_.extract(held_.begin());
    held_bytes_ -= node.mapped().bytes.size();
    const std::uint64_t known = next_ - node.key();
    if (known >= node.mapped().bytes.size()) continue;
    const auto bytes = std::span<const std::byte>(node.mapped().bytes).subspan(known);
    next_ += bytes.size();
    consumer_.on_bytes(bytes, node.mapped().at);
  }
  impatience_ = 0;
}

void TcpStream::skip_gap(Moment at) {
  if (held_.empty()) return;
  consumer_.on_gap(held_.begin()->first - next_, at);
  next_ = held_.begin()->first;
  hand_over_held();
}

void TcpStream::acknowledged(std::uint32_t sequence, Moment at) {
  if (!started_ || held_.empty() || unwrap(sequence) < held_.begin()->first) return;
  if (++impatience_ >= kPatience) skip_gap(at);
}

void TcpStream::finish(Moment at) {
  while (!held_.empty()) skip_gap(at);
}

}  // namespace nfsrdma::lab
