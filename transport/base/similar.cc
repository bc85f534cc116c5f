#include "transport/base/similar.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace nfsrdma {
namespace {

/// How many letters must be put in, left out or replaced to make one word of the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string_view most_similar(std::string_view word, std::span<const std::string_view> known) {
  constexpr std::size_t kShortWord = 3;
  std::size_t least = word.size() > kShortWord ? 3 : 2;
  std::string_view similar;
  for (const std::string_view each : known) {
    // Also a bound of the work: a word may be as long as a file.
    if (std::max(word.size(), each.size()) - std::min(word.size(), each.size()) >= least) continue;
    const std::size_t distance = edit_distance(word, each);
    if (distance >= least) continue;
    least = distance;
    similar = each;
  }
  return similar;
}

}  // namespace nfsrdma
