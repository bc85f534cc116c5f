#include "tests/lab/capture/rpc_call.h"

#include <algorithm>
#include <utility>

namespace nfsrdma::lab {

void SeenBytes::add(std::uint64_t begin, std::uint64_t end) {
  if (begin > contiguous_) {
    if (islands_.size() < kMostIslands || islands_.contains(begin)) {
      std::uint64_t& to = islands_[begin];
      to = std::max(to, end);
    }
    return;
  }
  contiguous_ = std::max(contiguous_, end);
  while (!islands_.empty() && islands_.begin()->first <= contiguous_) {
    contiguous_ = std::max(contiguous_, islands_.begin()->second);
    islands_.erase(islands_.begin());
  }
}

Offer::Offer(Offer&& from) noexcept
    : budget_(from.budget_),
      kind_(from.kind_),
      place_(from.place_),
      segment_(from.segment_),
      data_(std::exchange(from.data_, {})),
      seen_(std::move(from.seen_)),
      end_(from.end_),
      kept_to_(from.kept_to_) {}

bool Offer::covers(std::uint64_t offset, std::uint64_t length) const {
  if (offset < segment_.offset) return false;
  const std::uint64_t from_start = offset - segment_.offset;
  return from_start <= segment_.length && length <= segment_.length - from_start;
}

void Offer::keep(std::uint64_t offset, std::span<const std::byte> bytes) {
  const std::uint64_t at = offset - segment_.offset;
  const std::uint64_t end = at + bytes.size();
  end_ = std::max(end_, end);
  if (bytes.empty()) return;
  seen_.add(at, end);
  const std::uint64_t more = end - std::min<std::uint64_t>(end, data_.size());
  if (end > kMostKept || !budget_->take(more)) {
    kept_to_ = std::min(kept_to_, at);
    return;
  }
  data_.resize(data_.size() + more);
  std::copy(bytes.begin(), bytes.end(), data_.begin() + static_cast<std::ptrdiff_t>(at));
}

std::span<const std::byte> Offer::data(std::uint64_t length) const {
  return std::span(data_).first(
      std::min<std::uint64_t>({length, data_.size(), seen_.contiguous(), kept_to_}));
}

bool RpcCall::has_reads() const {
  return std::any_of(offers.begin(), offers.end(),
                     [](const Offer& offer) { return offer.kind() == Offer::Kind::read; });
}

std::size_t RpcCall::segments_of(std::uint32_t chunk) const {
  return static_cast<std::size_t>(
      std::count_if(offers.begin(), offers.end(), [chunk](const Offer& offer) {
        return offer.kind() == Offer::Kind::write && offer.place() == chunk;
      }));
}

std::uint64_t RpcCall::reply_chunk_length() const {
  std::uint64_t sum = 0;
  for (const Offer& offer : offers) {
    if (offer.kind() == Offer::Kind::reply) sum += offer.segment().length;
  }
  return sum;
}

}  // namespace nfsrdma::lab
