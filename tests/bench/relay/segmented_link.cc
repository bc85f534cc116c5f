#include "tests/bench/relay/segmented_link.h"

#include <algorithm>

namespace nfsrdma::bench::relay {
namespace {

/// So much is sent before the CRCs of what follows are made: the server works on it meanwhile.
constexpr std::size_t kSentAtOnce = std::size_t{256} << 10;
/// Header, Ask, payload, CRC.
constexpr std::size_t kPiecesOfSegment = 4;
/// Header, payload, CRC.
constexpr std::size_t kPiecesOfBody = 3;

bool is_fetched(const Passage& passage) {
  return passage.ask.order == Order::write && passage.payload.size() > kMostInline;
}

}  // namespace

void SegmentedLink::push(Passage& passage) {
  if (passage.asks) {
    Outgoing& made = unsent_.emplace_back();
    made.passage = &passage;
    made.ask = passage.ask;
    if (is_fetched(passage)) {
      made.ask.payload_size = 0;
      unfetched_.push_back(&passage);
    } else {
      made.payload = passage.payload;
    }
    made.header.size = static_cast<std::uint32_t>(sizeof made.ask + made.payload.size());
    made.last = true;
  }
  expect(passage);
}

void SegmentedLink::send_data(Passage& passage) {
  for (auto rest = passage.payload; !rest.empty();) {
    Outgoing& made = unsent_.emplace_back();
    made.passage = &passage;
    made.payload = rest.first(std::min(rest.size(), kMostInSegment));
    made.header = {.size = static_cast<std::uint32_t>(made.payload.size()),
                   .kind = SegmentHeader::Kind::data};
    rest = rest.subspan(made.payload.size());
    made.last = rest.empty();
  }
}

void SegmentedLink::gather_unsent(Parts& parts) {
  parts.clear();
  std::size_t skip = sent_of_first_;
  for (Outgoing& segment : unsent_) {
    if (parts.has_no_room_for(kPiecesOfSegment) || parts.bytes() >= kSentAtOnce) return;
    if (!segment.sealed) {
      segment.crc = crc_of(segment.header, segment.first(), segment.payload);
      segment.sealed = true;
    }
    parts.add(&segment.header, sizeof segment.header, skip);
    parts.add(segment.first().data(), segment.first().size(), skip);
    parts.add(segment.payload.data(), segment.payload.size(), skip);
    parts.add(&segment.crc, sizeof segment.crc, skip);
  }
}

void SegmentedLink::sent(std::size_t bytes, const Done& done) {
  sent_of_first_ += bytes;
  while (!unsent_.empty() && sent_of_first_ >= unsent_.front().size()) {
    Passage& passage = *unsent_.front().passage;
    const bool last = unsent_.front().last;
    sent_of_first_ -= unsent_.front().size();
    unsent_.pop_front();
    if (last) done(passage);
  }
}

/// While data are to be fetched, an order to do so may come before any answer: then only what is as
/// long as both is received.
bool SegmentedLink::gather_expected(Parts& parts) {
  parts.clear();
  const bool in_body = received_of_first_ >= kAnswerSegment;
  if (!unfetched_.empty() && !in_body) return gather_answers(parts), false;
  std::size_t skip = received_of_first_;
  std::size_t count = 0;
  for (Passage* passage : expected_) {
    if (!passage->asks) continue;
    const bool large = passage->body.size() >= kLargeBody;
    if (count == answers_.size() || (large && count > 0)) break;
    const std::size_t segments = framed_size(passage->body.size()) - passage->body.size();
    if (parts.has_no_room_for(1 + segments / kFraming * kPiecesOfBody)) break;
    parts.add(&answers_[count++], kAnswerSegment, skip);
    add_body(parts, *passage, skip);
    if (large) return true;
    if (!unfetched_.empty()) break;
  }
  return false;
}

void SegmentedLink::gather_answers(Parts& parts) {
  std::size_t skip = received_of_first_;
  std::size_t count = 0;
  for (const Passage* passage : expected_) {
    if (!passage->asks) continue;
    if (count == answers_.size() || (!passage->body.empty() && count > 0)) return;
    parts.add(&answers_[count++], kAnswerSegment, skip);
    if (!passage->body.empty()) return;
  }
}

void SegmentedLink::add_body(Parts& parts, Passage& passage, std::size_t& skip) {
  std::size_t i = 0;
  for (auto rest = passage.body; !rest.empty(); ++i) {
    const auto payload = rest.first(std::min(rest.size(), kMostInSegment));
    parts.add(&passage.headers[i], sizeof passage.headers[i], skip);
    parts.add(payload.data(), payload.size(), skip);
    parts.add(&passage.crcs[i], sizeof passage.crcs[i], skip);
    rest = rest.subspan(payload.size());
  }
}

bool SegmentedLink::received(std::size_t bytes, const Done& done) {
  std::size_t answer = 0;
  for (;;) {
    while (!expected_.empty() && !expected_.front()->asks) pop_expected(done);
    if (bytes == 0) break;
    if (expected_.empty()) return false;
    Passage& passage = *expected_.front();
    const bool had_answer = received_of_first_ >= kAnswerSegment;
    const std::size_t whole =
        had_answer ? kAnswerSegment + framed_size(passage.body.size()) : kAnswerSegment;
    const std::size_t step = std::min(bytes, whole - received_of_first_);
    received_of_first_ += step;
    bytes -= step;
    if (had_answer && !check_body(passage)) return false;
    if (received_of_first_ < whole) continue;
    if (!had_answer) {
      if (!take_answer(answers_[answer++])) return false;
      if (received_of_first_ == 0 || !passage.body.empty()) continue;  // an order to send data
    }
    received_of_first_ = checked_ = 0;
    pop_expected(done);
  }
  if (answer > 0 && received_of_first_ > 0 && received_of_first_ < kAnswerSegment) {
    answers_[0] = answers_[answer];
  }
  return true;
}

bool SegmentedLink::take_answer(const AnswerSegment& segment) {
  Crc crc;
  std::copy(segment.crc.begin(), segment.crc.end(),
            std::as_writable_bytes(std::span(&crc, 1)).begin());
  if (crc != crc_of(segment.header, std::as_bytes(std::span(&segment.answer, 1)))) return false;
  if (segment.answer.error != kFetch) {
    expected_.front()->answer = segment.answer;
    return true;
  }
  if (unfetched_.empty()) return false;
  received_of_first_ = 0;
  send_data(*unfetched_.front());
  unfetched_.pop_front();
  return true;
}

/// Looks at the segments that are whole now.
bool SegmentedLink::check_body(const Passage& passage) {
  const std::size_t have = received_of_first_ - kAnswerSegment;
  for (;; ++checked_) {
    const std::size_t begin = checked_ * kMostInSegment;
    if (begin >= passage.body.size()) return true;
    const auto payload =
        passage.body.subspan(begin, std::min(passage.body.size() - begin, kMostInSegment));
    if (have < framed_size(begin + payload.size())) return true;
    if (passage.crcs[checked_] != crc_of(passage.headers[checked_], payload)) return false;
  }
}

}  // namespace nfsrdma::bench::relay
