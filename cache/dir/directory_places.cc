#include "cache/dir/directory_places.h"

#include <algorithm>

namespace nfsrdma::cache {

std::optional<std::uint64_t> DirectoryPlaces::cookie_at(std::uint64_t offset) const {
  if (offset <= kAfterDotDot) return 0;
  const std::uint64_t place = offset - offset_of(0);
  if (place >= cookies_.size()) return std::nullopt;
  return cookies_[place];
}

void DirectoryPlaces::go_to(std::uint64_t offset) {
  // Kept, the places of removed names would grow without bound in a program that rewinds one DIR
  // for days. POSIX lets rewinddir(3) end the validity of what telldir(3) gave before.
  if (offset == 0 && index_ && cookies_.size() > kKept) *this = {};
  next_ = offset <= kAfterDotDot ? 0 : offset - kAfterDotDot;
}

std::optional<std::uint64_t> DirectoryPlaces::after(std::uint64_t cookie) {
  // One of the entries may have been removed.
  const std::size_t nearby = std::min(next_ + 2, cookies_.size());
  for (std::size_t place = next_; place < nearby; ++place) {
    if (cookies_[place] != cookie) continue;
    next_ = place + 1;
    return offset_of(place);
  }
  if (offset_of(cookies_.size()) > kLargest) return std::nullopt;
  if (next_ < cookies_.size() || index_) return offset_of(find_or_add(cookie));
  add(cookie);
  next_ = cookies_.size();
  return offset_of(next_ - 1);
}

// next_ stays: after a new entry, the old ones follow.
std::size_t DirectoryPlaces::find_or_add(std::uint64_t cookie) {
  if (!index_) {
    index_.emplace();
    for (std::size_t place = 0; place < cookies_.size(); ++place) {
      index_->emplace(cookies_[place], place);
    }
  }
  const auto found = index_->find(cookie);
  if (found != index_->end()) return found->second;
  add(cookie);
  return cookies_.size() - 1;
}

void DirectoryPlaces::add(std::uint64_t cookie) {
  if (index_) index_->emplace(cookie, cookies_.size());
  cookies_.push_back(cookie);
}

}  // namespace nfsrdma::cache
