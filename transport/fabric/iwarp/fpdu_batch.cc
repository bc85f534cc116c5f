#include "transport/fabric/iwarp/fpdu_batch.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "transport/fabric/iwarp/octets.h"

namespace nfsrdma::fabric::iwarp {

std::byte* FpduBatch::stage(std::span<const std::byte> octets) {
  assert(staged_ + octets.size() <= kStaging && count_ < kMaxPieces);
  std::byte* place = staging_.data() + staged_;
  std::memcpy(place, octets.data(), octets.size());
  staged_ += octets.size();
  octets_ += octets.size();
  added_ += octets.size();
  // A trailer and the header that follows it lie side by side: one piece for both.
  if (count_ > first_) {
    iovec& before = pieces_[count_ - 1];
    if (static_cast<std::byte*>(before.iov_base) + before.iov_len == place) {
      before.iov_len += octets.size();
      return place;
    }
  }
  pieces_[count_++] = iovec{place, octets.size()};
  return place;
}

void FpduBatch::add_startup(std::span<const std::byte> octets) {
  if (octets.empty()) return;
  stage(octets);
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
  octets_ += payload.size();
  added_ += payload.size();
  if (crc_in_use_) crc_.add(payload);
}

void FpduBatch::add_copied(std::span<const std::byte> octets) {
  if (octets.empty()) return;
  stage(octets);
  if (crc_in_use_) crc_.add(octets);
}

void FpduBatch::end() {
  std::array<std::byte, kFpduAlignment + kCrcField> trailer{};
  const std::size_t pad = fpdu_pad(ulpdu_length_);
  if (crc_in_use_) {
    crc_.add(std::span(trailer).first(pad));
    // RFC 5044 section 4.4: the CRC's bits travel as in iSCSI, that is least significant octet
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

void FpduBatch::advance(std::size_t octets) {
  assert(octets <= octets_);
  octets_ -= octets;
  while (octets != 0) {
    iovec& piece = pieces_[first_];
    const std::size_t step = std::min(octets, piece.iov_len);
    piece.iov_base = static_cast<std::byte*>(piece.iov_base) + step;
    piece.iov_len -= step;
    octets -= step;
    if (piece.iov_len == 0) ++first_;
  }
  if (octets_ == 0) clear();
}

void FpduBatch::keep_only_started() {
  if (empty()) return;
  const std::size_t written = added_ - octets_;
  std::size_t keep = 0;
  while (keep < fpdus_ && ends_[keep] <= written) ++keep;
  const bool at_boundary = written == 0 || (keep > 0 && ends_[keep - 1] == written);
  const std::size_t end = at_boundary ? written : ends_[keep];
  std::size_t surplus = added_ - end;
  octets_ -= surplus;
  added_ -= surplus;
  fpdus_ = at_boundary ? keep : keep + 1;
  while (surplus != 0) {
    iovec& piece = pieces_[count_ - 1];
    const std::size_t step = std::min(surplus, piece.iov_len);
    piece.iov_len -= step;
    surplus -= step;
    if (piece.iov_len == 0) --count_;
  }
  if (octets_ == 0) clear();
}

void FpduBatch::clear() { first_ = count_ = staged_ = octets_ = fpdus_ = added_ = 0; }

}  // namespace nfsrdma::fabric::iwarp
