#include "cache/data/uncommitted_data.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace nfsrdma::cache {

void UncommittedData::keep(std::uint64_t offset, const Uncommitted& kept,
                           const WriteVerifier& verifier) {
  if (kept.data.empty()) return;
  supersede(offset, kept.data.size());
  pieces_.insert_or_assign(offset, Piece{kept, verifier, ++order_, false});
}

/// Makes `offset` a boundary between pieces.
void UncommittedData::split_at(std::uint64_t offset) {
  auto after = pieces_.upper_bound(offset);
  if (after == pieces_.begin()) return;
  auto& [start, piece] = *std::prev(after);
  const std::uint64_t head = offset - start;
  if (head == 0 || head >= piece.length()) return;
  Piece tail = piece;
  tail.kept.data = tail.kept.data.subspan(head);
  piece.kept.data = piece.kept.data.first(head);
  pieces_.emplace_hint(after, offset, std::move(tail));
}

void UncommittedData::supersede(std::uint64_t offset, std::uint64_t length) {
  if (length == 0) return;
  constexpr auto kLast = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t end = length > kLast - offset ? kLast : offset + length;
  split_at(offset);
  split_at(end);
  pieces_.erase(pieces_.lower_bound(offset), pieces_.lower_bound(end));
}

void UncommittedData::truncate(std::uint64_t size) {
  split_at(size);
  pieces_.erase(pieces_.lower_bound(size), pieces_.end());
}

bool UncommittedData::any_until(Mark mark) const {
  return std::ranges::any_of(pieces_, [&](const auto& p) { return p.second.order <= mark.order; });
}

std::size_t UncommittedData::committed(Mark mark, const WriteVerifier& verifier) {
  std::erase_if(pieces_, [&](const auto& entry) {
    const Piece& piece = entry.second;
    return piece.order <= mark.order && piece.verifier == verifier && !piece.lost;
  });
  std::size_t lost = 0;
  for (auto& [offset, piece] : pieces_) {
    if (piece.order <= mark.order) piece.lost = true;
    lost += piece.lost ? 1 : 0;
  }
  return lost;
}

void UncommittedData::abandon(Mark mark) {
  std::erase_if(pieces_, [&](const auto& entry) { return entry.second.order <= mark.order; });
}

std::optional<UncommittedData::Lost> UncommittedData::next_lost() const {
  const auto found = std::ranges::find_if(pieces_, [](const auto& p) { return p.second.lost; });
  if (found == pieces_.end()) return std::nullopt;
  return Lost{found->first, found->second.kept};
}

}  // namespace nfsrdma::cache
