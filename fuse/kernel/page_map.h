// Where in a file the kernel may have cached pages.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace nfsrdma::fuse {

/// Bytes from `begin` up to `end`.
struct PageRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  static constexpr PageRange all() { return {0, std::numeric_limits<std::uint64_t>::max()}; }
  bool empty() const { return begin >= end; }
  bool operator==(const PageRange&) const = default;
};

/// The file is taken for 64 parts of equal length, which doubles as the file turns out to be
/// longer: a part may be said to have pages that it has not, never the other way round. Not thread
/// safe.
class PageMap {
 public:
  /// Pages of these bytes may be cached from now on.
  void add(PageRange bytes) {
    if (bytes.empty()) return;
    while ((bytes.end - 1) >> shift_ >= kParts) double_length();
    parts_ |= mask(bytes);
    since_drop_ |= mask(bytes);
  }
  /// Whether any of these bytes may be cached.
  bool any(PageRange bytes) const { return !bytes.empty() && (parts_ & mask(bytes)) != 0; }
  /// The whole parts that contain these bytes: the range to drop so that the map can clear them.
  PageRange parts_of(PageRange bytes) const {
    const std::uint64_t length = std::uint64_t{1} << shift_;
    return {bytes.begin & ~(length - 1), ((bytes.end - 1) | (length - 1)) + 1};
  }

  /// The first of the drops that are in flight begins.
  void drops_begin() { since_drop_ = 0; }
  /// One of them has dropped this range. Pages added since drops_begin() may be newer.
  void dropped(PageRange bytes) {
    const std::uint64_t length = std::uint64_t{1} << shift_;
    const PageRange whole{(bytes.begin + length - 1) & ~(length - 1), bytes.end & ~(length - 1)};
    if (!whole.empty()) parts_ = (parts_ & ~mask(whole)) | since_drop_;
  }

 private:
  static constexpr unsigned kParts = 64;

  std::uint64_t mask(PageRange bytes) const {
    const std::uint64_t first = bytes.begin >> shift_;
    const std::uint64_t last = std::min<std::uint64_t>((bytes.end - 1) >> shift_, kParts - 1);
    if (first > last) return 0;
    return (~std::uint64_t{0} << first) & (~std::uint64_t{0} >> (kParts - 1 - last));
  }
  static std::uint64_t halved(std::uint64_t parts) {
    std::uint64_t half = 0;
    for (unsigned i = 0; i < kParts; ++i) {
      if ((parts >> i & 1) != 0) half |= std::uint64_t{1} << (i / 2);
    }
    return half;
  }
  void double_length() {
    parts_ = halved(parts_);
    since_drop_ = halved(since_drop_);
    ++shift_;
  }

  std::uint64_t parts_ = 0;
  std::uint64_t since_drop_ = 0;
  unsigned shift_ = 20;  ///< a part has 1 MiB at first
};

}  // namespace nfsrdma::fuse
