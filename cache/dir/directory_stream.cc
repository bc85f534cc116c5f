#include "cache/dir/directory_stream.h"

#include <algorithm>

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
  if (!page_.eof) return false;
  const std::uint64_t last = page_.entries.empty() ? asked_.cookie : page_.entries.back().cookie;
  return last == cookie;
}

bool DirectoryStream::replace(const Asked& asked, client::DirectoryPage page) {
  if (!watch_.follow(asked.cookie, page.entries)) return false;
  page_ = std::move(page);
  asked_ = asked;
  next_ = 0;
  return true;
}

void DirectoryStream::rewind() {
  watch_.restart();
  page_ = {};
  asked_ = {};
  next_ = 0;
}

}  // namespace nfsrdma::cache
