#include "tests/hostile/iwarp_middleman.h"

#include <cstring>

#include "tests/hostile/iwarp_conversation.h"

namespace nfsrdma::hostile {

void Strike::inject(const wire::Segment& made) { conversation.emit(made); }
void Strike::inject(std::span<const std::byte> bytes) { conversation.emit(bytes); }
void Strike::silence() { conversation.silence(); }
void Strike::reset() { conversation.reset(); }
void Strike::finish() { conversation.finish(); }

Frame Strike::forbidden(std::size_t size) {
  IwarpMiddleman& man = conversation.man();
  man.marked_ = true;
  const auto mark = man.mark();
  Frame bytes;
  bytes.reserve(size + mark.size());
  while (bytes.size() < size) bytes.insert(bytes.end(), mark.begin(), mark.end());
  bytes.resize(size);
  return bytes;
}

void Strike::read(const wire::Read& read, bool allowed) {
  wire::Read request = read;
  request.sink_stag = allowed ? IwarpConversation::kAllowedSink : IwarpConversation::kForbiddenSink;
  wire::Segment message;
  message.opcode = wire::kReadRequest;
  message.qn = 1;
  message.msn = kNext;
  message.payload = wire::read_request_payload(request);
  inject(message);
}

const Offer* Strike::before(bool same_connection, std::size_t back) const {
  const auto& offers = conversation.man().offers_;
  for (auto at = offers.rbegin(); at != offers.rend(); ++at) {
    const bool same = at->first == &conversation;
    if (&at->second == &offer || same != same_connection || !at->second.lends()) continue;
    if (same && !at->second.answered) continue;
    if (back-- == 0) return &at->second;
  }
  return nullptr;
}

IwarpMiddleman::IwarpMiddleman(Reactor& reactor, const net::Address& server)
    : reactor_(reactor), relay_(reactor, server, [this](Wire& wire) {
        return std::make_unique<IwarpConversation>(*this, wire);
      }) {}

void IwarpMiddleman::arm(const WireAttack& attack, bool for_ever) {
  attack_ = attack;
  for_ever_ = for_ever;
  armed_ = true;
  marked_ = false;
  leaked_ = 0;
  ++number_;
  struck_.clear();
  seen_.clear();
  if (attack.at == At::startup) relay_.reset_all();
}

void IwarpMiddleman::lift() {
  armed_ = false;
  if (silent_) relay_.reset_all();
  silent_ = false;
}

void IwarpMiddleman::note(const Offer& offer) {
  if (!armed_) return;
  seen_.insert(WireAttack::Needs::anything);
  if (!offer.to_write.empty()) seen_.insert(WireAttack::Needs::to_write);
  if (!offer.to_read.empty()) seen_.insert(WireAttack::Needs::to_read);
}

bool IwarpMiddleman::fits(const Offer& offer) const {
  switch (attack_.needs) {
    case WireAttack::Needs::to_write: return !offer.to_write.empty();
    case WireAttack::Needs::to_read: return !offer.to_read.empty();
    default: return true;
  }
}

/// The attack, if it strikes this call now.
const WireAttack* IwarpMiddleman::wants(const Offer& offer, At at) {
  if (!armed_ || attack_.at != at || !fits(offer)) return nullptr;
  if (!for_ever_ && !struck_.empty() && !struck_.contains(offer.xid)) return nullptr;
  if (at == At::startup && !for_ever_ && !struck_.empty()) return nullptr;
  struck_.insert(offer.xid);
  return &attack_;
}

std::array<std::byte, 8> IwarpMiddleman::mark() const {
  constexpr std::uint64_t kRare = 0x9e3779b97f4a7c15;  // its multiples look like chance
  const std::uint64_t value = kRare * (number_ + 1);
  std::array<std::byte, 8> bytes;
  std::memcpy(bytes.data(), &value, bytes.size());
  return bytes;
}

std::string IwarpMiddleman::harm(std::span<const std::span<std::byte>> memory) {
  if (leaked_ > 0) return std::to_string(leaked_) + " bytes were given that were not lent";
  if (!marked_) return {};
  const auto bytes = mark();
  for (const auto& region : memory) {
    if (::memmem(region.data(), region.size(), bytes.data(), bytes.size()) != nullptr) {
      return "bytes were placed outside of what was lent";
    }
  }
  return {};
}

}  // namespace nfsrdma::hostile
