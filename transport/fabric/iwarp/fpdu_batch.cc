#include "transport/fabric/iwarp/fpdu_batch.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "transport/fabric/iwarp/network_order.h"

namespace nfsrdma::fabric::iwarp {

std::byte* FpduBatch::stage(std::span<const std::byte> bytes) {
  assert(staged_ + bytes.size() <= kStaging && count_ < kMaxPieces);
  std::byte* place = staging_.data() + staged_;
  std::memcpy(place, bytes.data(), bytes.size());
  staged_ += bytes.size();
  bytes_ += bytes.size();
  added_ += bytes.size();
  // A trailer and the header that follows it lie side by side: one piece for both.
  if (count_ > first_) {
    iovec& before = pieces_[count_ - 1];
    if (static_cast<std::byte*>(before.iov_base) + before.iov_len == place) {
      before.iov_len += bytes.size();
      return place;
    }
  }
  pieces_[count_++] = iovec{place, bytes.size()};
  return place;
}

void FpduBatch::add_startup(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  stage(bytes);
  ends_[fpdus_++] = added_;
}

void FpduBatch::begin(std::size_t ulpdu_length, std::span<const std::byte> header) {
  ulpdu_length_ = ulpdu_length;
  std::array<std::byte, kUlpduLengthField> length;
  put16(length.data(), static_cast<std::uint16_t>(ulpdu_length));
  crc_ = Crc32c{};
  const std::byte* start = stage(length);
  stage(header);
  if (crc_in_use_) crc_.add({start, length.size() + header.size()});
}

void FpduBatch::add_payload(std::span<const std::byte> payload) {
  if (payload.empty()) return;
  assert(count_ < kMaxPieces);
  // iovec has no const; sendmsg(2) does not write.
  pieces_[count_++] = iovec{const_cast<std::byte*>(payload.data()), payload.size()};
  bytes_ += payload.size();
  added_ += payload.size();
  if (crc_in_use_) crc_.add(payload);
}

void FpduBatch::add_copied(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  stage(bytes);
  if (crc_in_use_) crc_.add(bytes);
}

void FpduBatch::end() {
  std::array<std::byte, kFpduAlignment + kCrcField> trailer{};
  const std::size_t pad = fpdu_pad(ulpdu_length_);
  if (crc_in_use_) {
    crc_.add(std::span(trailer).first(pad));
    // RFC 5044 section 4.4: the CRC's bits travel as in iSCSI, that is least significant byte
    // first.
    const std::uint32_t crc = htole32(crc_.value());
    std::memcpy(trailer.data() + pad, &crc, sizeof crc);
  }
  stage(std::span(trailer).first(pad + kCrcField));
  ends_[fpdus_++] = added_;
}

bool FpduBatch::has_room() const {
  constexpr std::size_t pieces_per_fpdu = kPiecesPerFpdu + 2;
  return fpdus_ < kMaxFpdus && count_ + pieces_per_fpdu + kReserve <= kMaxPieces &&
         staged_ + (1 + kReserve) * kStagingPerFpdu <= kStaging;
}

void FpduBatch::advance(std::size_t bytes) {
  assert(bytes <= bytes_);
  bytes_ -= bytes;
  while (bytes != 0) {
    iovec& piece = pieces_[first_];
    const std::size_t step = std::min(bytes, piece.iov_len);
    piece.iov_base = static_cast<std::byte*>(piece.iov_base) + step;
    piece.iov_len -= step;
    bytes -= step;
    if (piece.iov_len == 0) ++first_;
  }
  if (bytes_ == 0) clear();
}

void FpduBatch::keep_only_started() {
  if (empty()) return;
  const std::size_t written = added_ - bytes_;
  std::size_t keep = 0;
  while (keep < fpdus_ && ends_[keep] <= written) ++keep;
  const bool at_boundary = written == 0 || (keep > 0 && ends_[keep - 1] == written);
  const std::size_t end = at_boundary ? written : ends_[keep];
  std::size_t surplus = added_ - end;
  bytes_ -= surplus;
  added_ -= surplus;
  fpdus_ = at_boundary ? keep : keep + 1;
  while (surplus != 0) {
    iovec& piece = pieces_[count_ - 1];
    const std::size_t step = std::min(surplus, piece.iov_len);
    piece.iov_len -= step;
    surplus -= step;
    if (piece.iov_len == 0) --count_;
  }
  if (bytes_ == 0) clear();
}

void FpduBatch::clear() { first_ = count_ = staged_ = bytes_ = fpdus_ = added_ = 0; }

}  // namespace nfsrdma::fabric::iwarp
