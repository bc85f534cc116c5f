#include "tests/lab/capture/rpc_call.h"

#include <algorithm>
#include <utility>

namespace nfsrdma::lab {

Offer::Offer(Offer&& from) noexcept
    : budget_(from.budget_),
      kind_(from.kind_),
      place_(from.place_),
      segment_(from.segment_),
      data_(std::exchange(from.data_, {})),
      end_(from.end_),
      moved_(from.moved_) {}

bool Offer::covers(std::uint64_t offset, std::uint64_t length) const {
  if (offset < segment_.offset) return false;
  const std::uint64_t from_start = offset - segment_.offset;
  return from_start <= segment_.length && length <= segment_.length - from_start;
}

void Offer::keep(std::uint64_t offset, std::span<const std::byte> bytes) {
  const std::uint64_t at = offset - segment_.offset;
  moved_ += bytes.size();
  end_ = std::max(end_, at + bytes.size());
  const std::uint64_t end = at + bytes.size();
  if (bytes.empty() || end > kMostKept) return;
  if (end > data_.size()) {
    if (!budget_->take(end - data_.size())) return;
    data_.resize(end);
  }
  std::copy(bytes.begin(), bytes.end(), data_.begin() + static_cast<std::ptrdiff_t>(at));
}

std::span<const std::byte> Offer::data(std::uint64_t length) const {
  return std::span(data_).first(std::min<std::uint64_t>(length, data_.size()));
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
