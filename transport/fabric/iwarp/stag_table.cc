#include "transport/fabric/iwarp/stag_table.h"

#include <array>
#include <cassert>
#include <limits>

namespace nfsrdma::fabric::iwarp {
namespace {

constexpr int kKeyBits = 8;
constexpr std::uint64_t kKeyMask = (1u << kKeyBits) - 1;
constexpr std::size_t kFirstEntries = 128;
constexpr std::size_t kMaxEntries = 1 << 16;
/// Base offsets are multiples of a page below 2^63: base + length never wraps.
constexpr std::uint64_t kBaseMask = 0x7ffffffffffff000;

StagTable::Index index_of(std::uint32_t stag) { return (stag >> kKeyBits) - 1; }

std::uint32_t make_stag(StagTable::Index index, std::uint64_t key) {
  // Index 0 becomes 1 in the STag: RFC 5040 allows STag 0, but some peers take it for no STag.
  return (index + 1) << kKeyBits | static_cast<std::uint32_t>(key & kKeyMask);
}

}  // namespace

std::string_view denial_text(Denial denial) {
  static constexpr std::array<std::string_view, 6> texts = {"allowed",
                                                            "that is not valid",
                                                            "of another connection",
                                                            "outside its bounds",
                                                            "against its access right",
                                                            "past the end of the address space"};
  return texts[static_cast<std::size_t>(denial)];
}

bool StagTable::grow() {
  if (entries_.size() >= kMaxEntries) return false;
  const auto old = static_cast<Index>(entries_.size());
  entries_.resize(entries_.empty() ? kFirstEntries : entries_.size() * 2);
  free_.reserve(entries_.size());
  for (auto index = old; index < entries_.size(); ++index) free_.push_back(index);
  return true;
}

Result<void> StagTable::prepare(Owner owner, Lease& lease, std::span<std::byte> memory,
                                Access access) {
  assert(lease.state == LeaseState::free);
  const auto refuse = [](const char* why) {
    return fail(Error{Layer::fabric, static_cast<int>(Fault::resources), "lease memory", why});
  };
  if (memory.size() > std::numeric_limits<std::uint32_t>::max()) {
    return refuse("longer than a segment can say");
  }
  if (free_.empty() && !grow()) return refuse("too many leases at once");

  std::uint64_t chance = random_.next();
  std::swap(free_[chance % free_.size()], free_.back());
  const Index index = free_.back();
  free_.pop_back();
  chance = random_.next();
  Entry& entry = entries_[index];
  entry = Entry{&lease, owner, memory, chance & kBaseMask, make_stag(index, chance), 0,
                access, false, {}};
  lease.segment = Segment{entry.stag, static_cast<std::uint32_t>(memory.size()), entry.base};
  lease.memory = memory;
  lease.access = access;
  lease.provider_index = index;
  lease.state = LeaseState::prepared;
  return {};
}

StagTable::Entry& StagTable::entry_of(Owner owner, const Lease& lease, LeaseState expected) {
  assert(lease.state == expected);
  assert(lease.provider_index < entries_.size());
  Entry& entry = entries_[lease.provider_index];
  assert(entry.lease == &lease && entry.owner == owner);
  (void)owner;
  (void)expected;
  return entry;
}

void StagTable::bind(Owner owner, Lease& lease) {
  entry_of(owner, lease, LeaseState::prepared).open = true;
  lease.state = LeaseState::bound;
}

void StagTable::cancel(Owner owner, Lease& lease) {
  entry_of(owner, lease, LeaseState::prepared);
  release(lease.provider_index);
}

bool StagTable::invalidate(Owner owner, Lease& lease) {
  Entry& entry = entry_of(owner, lease, LeaseState::bound);
  entry.open = false;
  if (entry.pins != 0) {
    lease.state = LeaseState::invalidating;
    return false;
  }
  release(lease.provider_index);
  return true;
}

void StagTable::finish_invalidating(Owner owner, Lease& lease) {
  assert(entry_of(owner, lease, LeaseState::invalidating).pins == 0);
  (void)owner;
  release(lease.provider_index);
}

void StagTable::release_all(Owner owner) {
  for (Index index = 0; index < entries_.size(); ++index) {
    if (entries_[index].lease != nullptr && entries_[index].owner == owner) release(index);
  }
}

void StagTable::release(Index index) {
  entries_[index].lease->state = LeaseState::free;
  entries_[index] = Entry{};
  free_.push_back(index);
}

StagTable::Target StagTable::find(Owner owner, std::uint32_t stag, std::uint64_t offset,
                                  std::uint64_t length, Access access) const {
  const Index index = index_of(stag);
  if (index >= entries_.size()) return {Denial::unknown_stag, kNoIndex, {}};
  const Entry& entry = entries_[index];
  if (!entry.open || entry.stag != stag) return {Denial::unknown_stag, kNoIndex, {}};
  if (entry.owner != owner) return {Denial::foreign_stag, kNoIndex, {}};
  if (length > std::numeric_limits<std::uint64_t>::max() - offset) {
    return {Denial::wrap, kNoIndex, {}};
  }
  const std::uint64_t end = entry.base + entry.memory.size();
  if (offset < entry.base || offset + length > end) return {Denial::bounds, kNoIndex, {}};
  if (entry.access != access) return {Denial::access_right, kNoIndex, {}};
  return {Denial::none, index, entry.memory.subspan(offset - entry.base, length)};
}

Denial StagTable::invalidate(Owner owner, std::uint32_t stag) {
  const Index index = index_of(stag);
  if (index >= entries_.size()) return Denial::unknown_stag;
  Entry& entry = entries_[index];
  if (!entry.open || entry.stag != stag) return Denial::unknown_stag;
  if (entry.owner != owner) return Denial::foreign_stag;
  entry.open = false;
  return Denial::none;
}

Lease* StagTable::unpin(Index index) {
  Entry& entry = entries_[index];
  assert(entry.pins != 0);
  --entry.pins;
  const bool invalidated = entry.pins == 0 && entry.lease->state == LeaseState::invalidating;
  return invalidated ? entry.lease : nullptr;
}

}  // namespace nfsrdma::fabric::iwarp
