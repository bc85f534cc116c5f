// The places of one open directory, by the numbers that readdir(3) and telldir(3) give for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace nfsrdma::cache {

/// An offset counts the entries of this open directory in the order in which they were first
/// listed: a program with 32-bit offsets gets EOVERFLOW for larger numbers, and the cookies of
/// servers have 64 bits (RFC 8881 section 18.23.3). Each has its cookie here, 8 bytes an entry, so
/// that a place stays valid when the page that had it is gone. Belongs to one open directory.
class DirectoryPlaces {
 public:
  /// After "." and "..", which servers do not list.
  static constexpr std::uint64_t kAfterDot = 1;
  static constexpr std::uint64_t kAfterDotDot = 2;
  /// Offsets that a program with 32-bit ones can take.
  static constexpr std::uint64_t kLargest = INT32_MAX;

  /// Places that outlast rewinddir(3) in any case.
  static constexpr std::size_t kKept = 65536;

  /// The cookie to go on with from `offset`; 0 at the beginning. Nothing for an offset that was not
  /// given out.
  std::optional<std::uint64_t> cookie_at(std::uint64_t offset) const;
  /// Reading goes on at `offset`, which cookie_at() knows: the next entries are those after it. At
  /// 0 the places of a directory that has changed are forgotten if there are more than kKept.
  void go_to(std::uint64_t offset);
  /// The offset after the entry that has this cookie, and that is read next. Nothing: there are too
  /// many places.
  std::optional<std::uint64_t> after(std::uint64_t cookie);

 private:
  static constexpr std::uint64_t offset_of(std::size_t place) { return place + kAfterDotDot + 1; }
  /// The place of an entry that stands elsewhere in the list, or is not in it: the directory has
  /// changed since the list was made.
  std::size_t find_or_add(std::uint64_t cookie);
  void add(std::uint64_t cookie);

  std::vector<std::uint64_t> cookies_;
  std::size_t next_ = 0;  ///< of the entry that is read next, if the directory has not changed
  /// Places by cookie, from when the directory was first seen changed.
  std::optional<std::unordered_map<std::uint64_t, std::size_t>> index_;
};

}  // namespace nfsrdma::cache
