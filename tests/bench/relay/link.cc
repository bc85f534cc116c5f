#include "tests/bench/relay/link.h"

#include <algorithm>

namespace nfsrdma::bench::relay {

void Parts::add(const void* memory, std::size_t size, std::size_t& skip) {
  const std::size_t skipped = std::min(skip, size);
  skip -= skipped;
  if (skipped == size) return;
  auto* const begin = static_cast<char*>(const_cast<void*>(memory)) + skipped;
  parts_[count_++] = {begin, size - skipped};
  bytes_ += size - skipped;
}

void Link::expect(Passage& passage) {
  if (passage.asks && passage.ask.order == Order::close) return;
  expected_.push_back(&passage);
  unanswered_ += passage.ask_size();
}

void Link::pop_expected(const Done& done) {
  Passage& passage = *expected_.front();
  unanswered_ -= passage.ask_size();
  expected_.pop_front();
  done(passage);
}

void PlainLink::push(Passage& passage) {
  if (passage.asks) unsent_.push_back(&passage);
  expect(passage);
}

void PlainLink::gather_unsent(Parts& parts) {
  parts.clear();
  std::size_t skip = sent_of_first_;
  for (const Passage* passage : unsent_) {
    if (parts.full()) return;
    parts.add(&passage->ask, sizeof passage->ask, skip);
    parts.add(passage->payload.data(), passage->payload.size(), skip);
  }
}

bool PlainLink::gather_expected(Parts& parts) {
  parts.clear();
  std::size_t skip = received_of_first_;
  for (const Passage* passage : expected_) {
    if (passage->answer_size() == 0) continue;
    const bool large = passage->body.size() >= kLargeBody;
    if (parts.full() || (large && parts.count() > 0)) break;
    parts.add(&passage->answer, sizeof passage->answer, skip);
    parts.add(passage->body.data(), passage->body.size(), skip);
    if (large) return true;
  }
  return false;
}

void PlainLink::sent(std::size_t bytes, const Done& done) {
  sent_of_first_ += bytes;
  while (!unsent_.empty() && sent_of_first_ >= unsent_.front()->ask_size()) {
    Passage& passage = *unsent_.front();
    sent_of_first_ -= passage.ask_size();
    unsent_.pop_front();
    done(passage);
  }
}

bool PlainLink::received(std::size_t bytes, const Done& done) {
  received_of_first_ += bytes;
  while (!expected_.empty() && received_of_first_ >= expected_.front()->answer_size()) {
    received_of_first_ -= expected_.front()->answer_size();
    pop_expected(done);
  }
  return true;
}

}  // namespace nfsrdma::bench::relay
