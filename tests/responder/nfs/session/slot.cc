#include "tests/responder/nfs/session/slot.h"

#include <algorithm>
#include <cstring>

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

bool CachedReply::replay(xdr::Encoder& out, const Scratch& scratch) const {
  std::span<const std::byte> rest(bytes_);
  std::size_t done = 0;
  const auto copy = [&](std::size_t length) {
    if (auto* place = out.reserve(length)) std::memcpy(place, rest.data(), length);
    rest = rest.subspan(length);
    done += length;
  };
  for (const Item& item : items_) {
    copy(item.offset - done);
    const std::span<std::byte> memory = scratch(item.data.size());
    if (memory.size() < item.data.size()) return false;
    std::ranges::copy(item.data, memory.begin());
    out.payload(memory.first(item.data.size()));
    rest = rest.subspan(xdr::kUnit);
    done += xdr::kUnit;
  }
  copy(rest.size());
  return out.ok();
}

Outcome<Order> order_of(nfs4::sequenceid4 sequence, nfs4::sequenceid4 last, bool used) {
  if (sequence == last + 1) return Order::next;
  if (used && sequence == last) return Order::retry;
  return refuse(nfs4::NFS4ERR_SEQ_MISORDERED);
}

Outcome<Order> Slot::check(nfs4::sequenceid4 number, std::uint64_t of_request) const {
  const auto order = order_of(number, sequence, used);
  if (!order || *order == Order::next) return order;
  if (fingerprint != of_request) return refuse(nfs4::NFS4ERR_SEQ_FALSE_RETRY);
  if (in_progress) return refuse(nfs4::NFS4ERR_DELAY);
  return order;
}

}  // namespace nfsrdma::responder
