// Which version of a file the kernel's cached pages belong to, after changes made here.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace nfsrdma::cache {

/// A change made here moves the file from one change attribute to the next, and the cached pages
/// stay valid. Replies come in any order, so a step that does not begin at the version of the pages
/// is kept until the steps before it are known. A step that never fits shows that another client
/// has changed the file in between.
class OwnChanges {
 public:
  /// A change of ours led from `before` to `after`. Returns the version that pages belong to now
  /// which belonged to `pages`.
  std::uint64_t follow(std::uint64_t pages, std::uint64_t before, std::uint64_t after) {
    // With more of them in flight than this the oldest is given up: pages are fetched once more.
    steps_[next_] = {before, after};
    next_ = (next_ + 1) % kMostSteps;
    count_ = std::min(count_ + 1, kMostSteps);
    for (std::size_t tried = 0; tried < count_; ++tried) {
      const auto end = steps_.begin() + static_cast<std::ptrdiff_t>(count_);
      const auto fits = std::find_if(steps_.begin(), end, [&](const Step& step) {
        return step.before == pages && step.after != pages;
      });
      if (fits == end) break;
      pages = fits->after;
    }
    return pages;
  }

 private:
  static constexpr std::size_t kMostSteps = 32;
  struct Step {
    std::uint64_t before = 0;
    std::uint64_t after = 0;
  };

  std::array<Step, kMostSteps> steps_{};
  std::size_t count_ = 0;
  std::size_t next_ = 0;
};

}  // namespace nfsrdma::cache
