#include "cache/dir/cookie_watch.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace nfsrdma::cache {
namespace {

/// The offsets behind "." and ".." stand for the beginning, as does 0. Servers do not use them,
/// unless they count their entries; the kernel never continues from the first two of these.
constexpr std::uint64_t kLastOfDots = 2;

bool leads_to_the_beginning(std::uint64_t from, std::span<const client::Entry> entries,
                            std::size_t index) {
  const std::uint64_t cookie = entries[index].cookie;
  const bool counted = entries[0].cookie == from + 1 && cookie == from + index + 1;
  return cookie <= kLastOfDots && !counted;
}

/// No cookie comes twice, the one that was asked with included.
bool all_differ(std::uint64_t from, std::span<const client::Entry> entries) {
  std::uint64_t last = from;
  const bool rising = std::all_of(entries.begin(), entries.end(), [&last](const auto& entry) {
    return entry.cookie > std::exchange(last, entry.cookie);
  });
  if (rising) return true;  // with all servers but a few
  std::vector<std::uint64_t> cookies{from};
  for (const client::Entry& entry : entries) cookies.push_back(entry.cookie);
  std::sort(cookies.begin(), cookies.end());
  return std::adjacent_find(cookies.begin(), cookies.end()) == cookies.end();
}

}  // namespace

bool CookieWatch::follow(std::uint64_t from, std::span<const client::Entry> entries) {
  if (entries.empty()) return true;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (leads_to_the_beginning(from, entries, i)) return false;
  }
  if (!all_differ(from, entries)) return false;
  if (from != end_) begin_at(from);
  const std::uint64_t end = entries.back().cookie;
  if (end == earlier_end_) return false;
  end_ = end;
  if (++pages_ == limit_) {
    earlier_end_ = end;
    pages_ = 0;
    limit_ *= 2;
  }
  return true;
}

/// A reader has gone to another place of the directory.
void CookieWatch::begin_at(std::uint64_t from) {
  end_ = earlier_end_ = from;
  pages_ = 0;
  limit_ = 1;
}

}  // namespace nfsrdma::cache
