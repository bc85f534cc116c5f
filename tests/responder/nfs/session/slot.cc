#include "tests/responder/nfs/session/slot.h"

#include <algorithm>
#include <cstring>

#include "tests/responder/service.h"

namespace nfsrdma::responder {

void CachedReply::clear() {
  bytes_.clear();
  items_.clear();
}

void CachedReply::store(const xdr::Encoder& out, std::size_t from) {
  const auto encoded = out.encoded().subspan(from);
  bytes_.assign(encoded.begin(), encoded.end());
  items_.clear();
  for (const xdr::OmittedItem& item : out.omitted()) {
    // An item's offset is behind its count word, which payload() will encode again.
    items_.push_back({item.offset - from - xdr::kUnit, {item.data.begin(), item.data.end()}});
  }
}

void CachedReply::spoil() {
  items_.clear();
  for (std::size_t i = 2 * xdr::kUnit; i < bytes_.size(); ++i) bytes_[i] ^= std::byte{0x5a};
}

bool CachedReply::replay(ServerCall& call) const {
  xdr::Encoder& out = call.results();
  std::span<const std::byte> rest(bytes_);
  std::size_t done = 0;
  const auto copy = [&](std::size_t length) {
    if (auto* place = out.reserve(length)) std::memcpy(place, rest.data(), length);
    rest = rest.subspan(length);
    done += length;
  };
  for (const Item& item : items_) {
    copy(item.offset - done);
    const std::span<std::byte> memory = call.scratch(item.data.size());
    if (memory.size() < item.data.size()) return false;
    std::ranges::copy(item.data, memory.begin());
    out.payload(memory.first(item.data.size()));
    rest = rest.subspan(xdr::kUnit);
    done += xdr::kUnit;
  }
  copy(rest.size());
  return out.ok();
}

Slot::Check Slot::check(nfs4::sequenceid4 next) const {
  if (next == sequence + 1) return Check::next;
  if (used && next == sequence) return Check::replay;
  return Check::misordered;
}

}  // namespace nfsrdma::responder
