// A message gathered from views of memory, without copying.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <span>

#include "transport/xdr/encoder.h"

namespace nfsrdma::responder {

class PieceList {
 public:
  /// A header, around each inline item its stream before, its bytes and its pad, the rest, and
  /// room for a fault script to replace a word.
  static constexpr std::size_t kMaxPieces = 4 + 3 * xdr::Encoder::kMaxOmitted;

  void clear() { count_ = size_ = 0; }
  void add(std::span<const std::byte> piece) {
    if (piece.empty()) return;
    assert(count_ < kMaxPieces);
    pieces_[count_++] = piece;
    size_ += piece.size();
  }
  /// Bytes of all pieces.
  std::size_t size() const { return size_; }
  std::span<const std::span<const std::byte>> pieces() const { return {pieces_.data(), count_}; }

  /// `length` bytes from `offset` on; both within size().
  PieceList slice(std::size_t offset, std::size_t length) const {
    PieceList part;
    for (const auto& piece : pieces()) {
      if (offset >= piece.size()) {
        offset -= piece.size();
        continue;
      }
      const auto taken = std::min(piece.size() - offset, length);
      part.add(piece.subspan(offset, taken));
      length -= taken;
      offset = 0;
      if (length == 0) break;
    }
    return part;
  }

 private:
  std::array<std::span<const std::byte>, kMaxPieces> pieces_;
  std::size_t count_ = 0;
  std::size_t size_ = 0;
};

}  // namespace nfsrdma::responder
