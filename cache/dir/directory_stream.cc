#include "cache/dir/directory_stream.h"

#include <algorithm>
#include <iterator>

namespace nfsrdma::cache {

std::span<const client::Entry> DirectoryStream::following(std::uint64_t cookie) {
  const std::span<const client::Entry> entries(page_.entries);
  if (cookie == asked_.cookie) {
    next_ = 0;
    return entries;
  }
  const auto ends_at_cookie = [cookie](const client::Entry& e) { return e.cookie == cookie; };
  // The usual case: continue where the last answer stopped. next_ may be behind that place.
  auto place = std::find_if(entries.begin() + next_, entries.end(), ends_at_cookie);
  if (place == entries.end()) {
    place = std::find_if(entries.begin(), entries.begin() + next_, ends_at_cookie);
    if (place == entries.begin() + next_) return {};
  }
  next_ = place - entries.begin();
  return entries.subspan(next_ + 1);
}

bool DirectoryStream::ends_after(std::uint64_t cookie) const {
  return page_.eof && end_of(page_, asked_) == cookie;
}

bool DirectoryStream::continues(const Kept& kept, std::uint64_t cookie) {
  const auto& entries = kept.page.entries;
  if (kept.asked.cookie == cookie) return !entries.empty() || kept.page.eof;
  const auto place = std::ranges::find(entries, cookie, &client::Entry::cookie);
  if (place == entries.end()) return false;
  return kept.page.eof || std::next(place) != entries.end();
}

bool DirectoryStream::replace(const Asked& asked, client::DirectoryPage page) {
  if (!watch_.follow(asked.cookie, page.entries)) return false;
  if (!page_.entries.empty()) kept_.push_back({std::move(page_), asked_});
  if (kept_.size() > kMostKept) kept_.pop_front();
  page_ = std::move(page);
  asked_ = asked;
  next_ = 0;
  return true;
}

void DirectoryStream::rewind() {
  watch_.restart();
  kept_.clear();
  page_ = {};
  asked_ = {};
  next_ = 0;
}

}  // namespace nfsrdma::cache
