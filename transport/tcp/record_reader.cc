#include "transport/tcp/record_reader.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace nfsrdma::tcp {

ReadStatus RecordReader::read(net::ByteStream& stream) {
  if (staged() > 0) return consume();
  Place place;
  if (mark_known()) {
    auto given = handler_.place(rest_);
    if (!given) return status_of(violated(given.error()));
    if (given->memory.empty()) return ReadStatus::no_place;
    place = *given;
  }
  const auto into = place.memory.first(std::min(place.memory.size(), rest_));
  return read_stream(stream, into, wanted_in_stage(place, into.size()));
}

/// Bytes that may be read into the stage behind `placed` bytes that go to their place.
std::size_t RecordReader::wanted_in_stage(const Place& place, std::size_t placed) const {
  const std::size_t lookahead = std::clamp(handler_.lookahead(), RecordMark::kSize, kStage);
  if (!mark_known()) return (in_record_ ? RecordMark::kSize : lookahead) - mark_have_;
  const std::size_t behind = rest_ - placed;
  if (behind == 0 && !last_) return RecordMark::kSize;
  if (behind == 0 || (place.rest_may_be_staged && last_)) {
    return std::min(behind + lookahead, kStage);
  }
  return 0;
}

ReadStatus RecordReader::read_stream(net::ByteStream& stream, std::span<std::byte> place,
                                     std::size_t to_stage) {
  stage_begin_ = stage_end_ = 0;
  std::array<iovec, 2> parts;
  std::size_t used = 0;
  if (!place.empty()) parts[used++] = {place.data(), place.size()};
  if (to_stage > 0) parts[used++] = {stage_.data(), to_stage};
  const ssize_t got = stream.read(std::span(parts).first(used));
  if (got == 0) return ReadStatus::end;
  if (got == -EAGAIN || got == -EWOULDBLOCK) return ReadStatus::drained;
  if (got < 0) {
    error_ = static_cast<int>(-got);
    return ReadStatus::failed;
  }
  const auto bytes = static_cast<std::size_t>(got);
  drained_ = bytes < place.size() + to_stage;
  const std::size_t placed = std::min(bytes, place.size());
  stage_end_ = bytes - placed;
  if (placed > 0) {
    const Step step = advance(placed, false);
    if (step != Step::going) return status_of(step);
  }
  return consume();
}

ReadStatus RecordReader::consume() {
  while (staged() > 0) {
    const Step step = mark_known() ? consume_fragment() : consume_mark();
    if (step != Step::going) return status_of(step);
  }
  return drained_ ? ReadStatus::drained : ReadStatus::more;
}

RecordReader::Step RecordReader::consume_mark() {
  const std::size_t count = std::min(staged(), RecordMark::kSize - mark_have_);
  std::copy_n(stage_.data() + stage_begin_, count, &mark_[mark_have_]);
  stage_begin_ += count;
  mark_have_ += count;
  position_ += count;
  return mark_known() ? start_fragment() : Step::going;
}

RecordReader::Step RecordReader::start_fragment() {
  const RecordMark mark = decode_mark(mark_);
  ++fragments_;
  in_record_ = true;
  rest_ = mark.length;
  last_ = mark.last;
  if (rest_ > max_record_ - record_bytes_) return violated("a record longer than any message");
  if (rest_ > 0) return Step::going;
  if (++empty_fragments_ > kMaxEmptyFragments) return violated("too many empty fragments");
  return end_fragment();
}

RecordReader::Step RecordReader::consume_fragment() {
  auto place = handler_.place(rest_);
  if (!place) return violated(place.error());
  if (place->memory.empty()) return Step::no_place;
  const std::size_t count = std::min({staged(), rest_, place->memory.size()});
  std::memcpy(place->memory.data(), stage_.data() + stage_begin_, count);
  stage_begin_ += count;
  return advance(count, true);
}

RecordReader::Step RecordReader::advance(std::size_t bytes, bool copied) {
  position_ += bytes;
  rest_ -= bytes;
  record_bytes_ += bytes;
  if (auto taken = handler_.filled(bytes, copied); !taken) return violated(taken.error());
  return rest_ == 0 ? end_fragment() : Step::going;
}

RecordReader::Step RecordReader::end_fragment() {
  mark_have_ = 0;
  if (!last_) return Step::going;
  in_record_ = false;
  record_bytes_ = 0;
  empty_fragments_ = 0;
  ++records_;
  if (auto taken = handler_.end_of_record(); !taken) return violated(taken.error());
  return Step::record_ended;
}

ReadStatus RecordReader::status_of(Step step) const {
  switch (step) {
    case Step::no_place: return ReadStatus::no_place;
    case Step::violated: return ReadStatus::violated;
    case Step::going:
    case Step::record_ended: break;
  }
  return staged() == 0 && drained_ ? ReadStatus::drained : ReadStatus::more;
}

}  // namespace nfsrdma::tcp
