// READs that may have brought back pages which a write(2) in progress replaces.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "fuse/kernel/page_map.h"

namespace nfsrdma::fuse {

/// The kernel fills pages for a write(2) before the WRITE is sent, and does not keep them locked:
/// one that is dropped meanwhile can be read again as it was before. The kernel's writers of a file
/// go one after the other, so of the WRITEs that come when the drop has ended only the first can
/// have lost pages by it. Belongs to one shard.
class ReadsAfterDrop {
 public:
  /// Pages are being dropped while programs here may write.
  void watch() { watching_ = true; }
  /// The first of the drops that are in flight begins.
  void drops_begin() { since_drop_.clear(); }
  /// One of them has dropped all pages: those read before drops_begin() are gone.
  void dropped_all() { read_ = since_drop_; }

  /// The kernel reads pages of these bytes.
  void add(PageRange bytes) {
    if (!watching_) return;
    read_.add(bytes);
    since_drop_.add(bytes);
  }
  /// A WRITE from the page cache has its place in the order, so that READs from now on see it.
  /// Returns where pages may be from before it, in one range.
  PageRange written(PageRange bytes, bool drops_in_flight_set) {
    if (!watching_) return {};
    const PageRange old = read_.part_of(bytes);
    if (!drops_in_flight_set) {
      watching_ = false;
      read_.clear();
    }
    return old;
  }

 private:
  class Ranges {
   public:
    void clear() { count_ = 0; }
    void add(PageRange bytes) {
      for (std::size_t i = 0; i < count_; ++i) {
        if (bytes.begin > ranges_[i].end || bytes.end < ranges_[i].begin) continue;
        widen(ranges_[i], bytes);
        return;
      }
      if (count_ < ranges_.size()) {
        ranges_[count_++] = bytes;
      } else {
        widen(ranges_.back(), bytes);
      }
    }
    /// From the first byte to the last one of what both have.
    PageRange part_of(PageRange bytes) const {
      PageRange part{bytes.end, bytes.begin};
      for (std::size_t i = 0; i < count_; ++i) {
        const PageRange both{std::max(bytes.begin, ranges_[i].begin),
                             std::min(bytes.end, ranges_[i].end)};
        if (!both.empty()) widen(part, both);
      }
      return part.empty() ? PageRange{} : part;
    }

   private:
    static void widen(PageRange& range, PageRange by) {
      range = {std::min(range.begin, by.begin), std::max(range.end, by.end)};
    }
    std::array<PageRange, 8> ranges_{};
    std::size_t count_ = 0;
  };

  Ranges read_;
  Ranges since_drop_;  ///< those of them that came after drops_begin()
  bool watching_ = false;
};

}  // namespace nfsrdma::fuse
