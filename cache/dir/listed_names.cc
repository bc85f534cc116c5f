#include "cache/dir/listed_names.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace nfsrdma::cache {
namespace {

/// Servers differ in the longest name they take.
constexpr std::size_t kLongest = 128;
/// Names that are looked through one by one before they are sorted in.
constexpr std::size_t kMostAdded = 64;
/// Directories that servers have and do not list.
constexpr std::array<std::string_view, 6> kHidden{".snapshot", "~snapshot", ".snapshots",
                                                  ".zfs",      ".snap",     ".ckpt"};

char without_case(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::uint64_t hash_of(std::string_view name) {
  thread_local std::string folded;
  folded.assign(name);
  std::ranges::transform(folded, folded.begin(), without_case);
  return std::hash<std::string_view>()(folded);
}

bool may_be_hidden(std::string_view name) {
  const bool ascii =
      std::ranges::all_of(name, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  return !ascii || name.size() > kLongest || std::ranges::count(kHidden, name) > 0;
}

}  // namespace

void ListedNames::forget() {
  if (std::exchange(forgotten_, true)) return;
  --total_->directories;
  total_->names -= size();
  sorted_ = {};
  added_ = {};
}

void ListedNames::add(std::string_view name) {
  if (forgotten_) return;
  added_.push_back(hash_of(name));
  ++total_->names;
}

bool ListedNames::shown(std::uint64_t version, TimePoint time) {
  if (version_.shown(version)) return false;
  if (lasting_) begin_row(version, time);
  return true;
}

void ListedNames::merge() {
  const auto old = static_cast<std::ptrdiff_t>(sorted_.size());
  std::ranges::sort(added_);
  sorted_.insert(sorted_.end(), added_.begin(), added_.end());
  std::inplace_merge(sorted_.begin(), sorted_.begin() + old, sorted_.end());
  added_.clear();
}

bool ListedNames::lacks(std::string_view name, std::uint32_t uid) {
  if (forgotten_ || (uid_ && uid != *uid_) || may_be_hidden(name)) return false;
  if (added_.size() > kMostAdded) merge();
  const std::uint64_t hash = hash_of(name);
  return !std::ranges::binary_search(sorted_, hash) && std::ranges::count(added_, hash) == 0;
}

}  // namespace nfsrdma::cache
