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

void Link::push(Passage& passage) {
  if (passage.asks) unsent_.push_back(&passage);
  if (passage.asks && passage.ask.order == Order::close) return;
  expected_.push_back(&passage);
  unanswered_ += passage.ask_size();
}

void Link::gather_unsent(Parts& parts) const {
  parts.clear();
  std::size_t skip = sent_of_first_;
  for (const Passage* passage : unsent_) {
    if (parts.full()) return;
    parts.add(&passage->ask, sizeof passage->ask, skip);
    parts.add(passage->payload.data(), passage->payload.size(), skip);
  }
}

bool Link::gather_expected(Parts& parts) const {
  constexpr std::size_t kLarge = std::size_t{128} << 10;
  parts.clear();
  std::size_t skip = received_of_first_;
  for (const Passage* passage : expected_) {
    if (passage->answer_size() == 0) continue;
    const bool large = passage->body.size() >= kLarge;
    if (parts.full() || (large && parts.count() > 0)) break;
    parts.add(&passage->answer, sizeof passage->answer, skip);
    parts.add(passage->body.data(), passage->body.size(), skip);
    if (large) return true;
  }
  return false;
}

}  // namespace nfsrdma::bench::relay
