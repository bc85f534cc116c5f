#include "tests/hostile/record_middleman.h"

#include <algorithm>

namespace nfsrdma::hostile {
namespace {

constexpr std::size_t kMark = 4;
constexpr std::uint32_t kLastFragment = 0x80000000;
constexpr std::size_t kMostPast = 50;
constexpr std::size_t kMessageTypeAt = 4;
constexpr std::uint32_t kReply = 1;
constexpr int kBits = 8;

std::uint32_t word(std::span<const std::byte> bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    value = value << kBits | std::to_integer<std::uint32_t>(bytes[at + i]);
  }
  return value;
}

/// Takes a record off the front of a stream; false: none is whole. The responder's have one
/// fragment.
bool take_record(Message& stream, Message& message) {
  if (stream.size() < kMark) return false;
  const std::size_t end = kMark + (word(stream, 0) & ~kLastFragment);
  if (stream.size() < end) return false;
  const auto behind = stream.begin() + static_cast<std::ptrdiff_t>(end);
  message.assign(stream.begin() + kMark, behind);
  stream.erase(stream.begin(), behind);
  return true;
}

}  // namespace

Message record_mark(std::uint32_t length, bool last) {
  const std::uint32_t value = length | (last ? kLastFragment : 0);
  Message mark;
  for (int shift = 3 * kBits; shift >= 0; shift -= kBits) {
    mark.push_back(static_cast<std::byte>(value >> shift));
  }
  return mark;
}

Message record_of(std::span<const std::byte> message) {
  Message record = record_mark(static_cast<std::uint32_t>(message.size()));
  record.insert(record.end(), message.begin(), message.end());
  return record;
}

RecordConversation::RecordConversation(RecordMiddleman& man, Wire& wire)
    : man_(man), wire_(wire), timer_(man.reactor_, [this] { emit_next(); }) {}

void RecordConversation::emit(std::span<const std::byte> bytes) {
  if (!silent_) wire_.to_client(bytes);
}

void RecordConversation::emit_after(Duration pause, std::span<const std::byte> bytes) {
  later_.emplace_back(pause, Message(bytes.begin(), bytes.end()));
  if (!timer_.armed()) timer_.arm(later_.front().first);
}

void RecordConversation::emit_next() {
  const Message bytes = std::move(later_.front().second);
  later_.pop_front();
  emit(bytes);
  if (!later_.empty()) timer_.arm(later_.front().first);
}

void RecordConversation::silence() { silent_ = man_.silent_ = true; }

void RecordConversation::from_client(std::span<const std::byte> bytes) {
  wire_.to_server(bytes);
  if (!man_.for_next_.empty()) emit(record_of(std::exchange(man_.for_next_, {})));
}

void RecordConversation::from_server(std::span<const std::byte> bytes) {
  replies_.insert(replies_.end(), bytes.begin(), bytes.end());
  Message message;
  while (take_record(replies_, message)) on_reply(std::move(message));
}

void RecordConversation::on_reply(Message message) {
  const bool is_reply =
      message.size() > kMessageTypeAt + 4 && word(message, kMessageTypeAt) == kReply;
  if (!is_reply) return emit(record_of(message));
  const Message honest = message;
  RecordStrike strike(man_, *this, message);
  if (man_.armed_ && man_.replies_++ >= man_.skip_ && (man_.for_ever_ || man_.struck_ == 0)) {
    ++man_.struck_;
    man_.attack_.strike(strike);
  }
  if (strike.forward) {
    // What is late stays in front of what comes behind it.
    later_.empty() ? emit(record_of(message)) : emit_after(Duration::zero(), record_of(message));
  }
  man_.past_.push_back(honest);
  if (man_.past_.size() > kMostPast) man_.past_.pop_front();
}

const Message* RecordStrike::before() const {
  return man_.past_.empty() ? nullptr : &man_.past_.back();
}

void RecordStrike::on_the_next_connection() {
  forward = false;
  man_.for_next_ = message;
  conversation.wire().reset();
}

RecordMiddleman::RecordMiddleman(Reactor& reactor, const net::Address& server)
    : reactor_(reactor), relay_(reactor, server, [this](Wire& wire) {
        return std::make_unique<RecordConversation>(*this, wire);
      }) {}

void RecordMiddleman::arm(const RecordAttack& attack, std::size_t skip, bool for_ever) {
  attack_ = attack;
  skip_ = skip;
  for_ever_ = for_ever;
  armed_ = true;
  struck_ = replies_ = 0;
}

void RecordMiddleman::lift() {
  armed_ = false;
  for_next_.clear();
  if (silent_) relay_.reset_all();
  silent_ = false;
}

}  // namespace nfsrdma::hostile
