#include "tests/bench/relay/output.h"

#include <algorithm>
#include <cstring>

#include "tests/bench/loopback.h"

namespace nfsrdma::bench::relay {

Output::Output(int socket, bool in_segments)
    : socket_(socket), in_segments_(in_segments), memory_(kPiece + kAnswerSegment) {}

void Output::make_room(std::size_t size) {
  if (used_ + size > memory_.size()) flush();
}

void Output::put(const Answer& answer, std::span<const std::byte> body) {
  make_room(answer_size());
  std::byte* const place = memory_.data() + used_;
  if (in_segments_) {
    AnswerSegment segment;
    segment.answer = answer;
    const Crc crc = crc_of(segment.header, std::as_bytes(std::span(&answer, 1)));
    std::memcpy(segment.crc.data(), &crc, sizeof crc);
    std::memcpy(place, &segment, kAnswerSegment);
  } else {
    std::memcpy(place, &answer, sizeof answer);
  }
  used_ += answer_size();
  while (!body.empty()) {
    const auto piece = body.first(std::min(body.size(), most_in_piece()));
    std::memcpy(place_for_body(piece.size()), piece.data(), piece.size());
    body_is_there(piece.size());
    body = body.subspan(piece.size());
  }
}

std::byte* Output::place_for_body(std::size_t size, bool behind_answer) {
  const std::size_t before = behind_answer ? answer_size() : 0;
  make_room(before + size + framing());
  return memory_.data() + used_ + before + (in_segments_ ? sizeof(SegmentHeader) : 0);
}

void Output::body_is_there(std::size_t size) {
  if (in_segments_) {
    std::byte* const place = memory_.data() + used_;
    const SegmentHeader header{.size = static_cast<std::uint32_t>(size),
                               .kind = SegmentHeader::Kind::data};
    std::memcpy(place, &header, sizeof header);
    const Crc crc = crc_of(header, {place + sizeof header, size});
    std::memcpy(place + sizeof header + size, &crc, sizeof crc);
  }
  used_ += size + framing();
}

bool Output::flush() {
  ok_ = send_all(socket_, memory_.data(), used_) && ok_;
  used_ = 0;
  return ok_;
}

}  // namespace nfsrdma::bench::relay
