// How long things took: a log-linear histogram of fixed memory.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "transport/base/metrics.h"

namespace nfsrdma {

/// Times up to 2 minutes, exact to kUnit or a sixteenth, whichever is more; longer ones count as
/// longest() only. One thread adds; any thread reads, and sees counts that are each whole.
class Histogram {
 public:
  using Time = std::chrono::nanoseconds;
  static constexpr Time kUnit{128};
  /// Times below it are told apart exactly.
  static constexpr Time kBounded{std::int64_t{1} << 37};

  void add(Time time) {
    const auto value = static_cast<std::uint64_t>(std::max(time, Time::zero()).count());
    counts_[bucket_of(value / kUnit.count())].add();
    sum_.add(value);
    if (value > longest_.value()) longest_.add(value - longest_.value());
  }

  std::uint64_t count() const {
    std::uint64_t sum = 0;
    for (const Counter& count : counts_) sum += count.value();
    return sum;
  }
  Time sum() const { return Time(sum_.value()); }
  Time longest() const { return Time(longest_.value()); }
  Time mean() const {
    const std::uint64_t all = count();
    return all == 0 ? Time::zero() : Time(sum_.value() / all);
  }
  /// A time that `percent` of all took no longer than: at most a sixteenth, or kUnit, too
  /// long. 0 when there are none.
  Time percentile(double percent) const {
    const std::uint64_t all = count();
    const auto wanted = static_cast<double>(all) * percent / 100;
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i + 1 < kBuckets; ++i) {
      seen += counts_[i].value();
      if (seen > 0 && static_cast<double>(seen) >= wanted) return std::min(end_of(i), longest());
    }
    return longest();
  }

 private:
  // Buckets of equal width up to 2 * kPerOctave units; from there on kPerOctave for each doubling.
  static constexpr unsigned kBits = 4;
  static constexpr std::uint64_t kPerOctave = 1U << kBits;
  static constexpr unsigned kOctaves =
      static_cast<unsigned>(std::bit_width(std::uint64_t(kBounded / kUnit))) - 1 - kBits;
  static constexpr std::size_t kBuckets = (kOctaves + 1) * kPerOctave + 1;  // the last: longer ones

  static std::size_t bucket_of(std::uint64_t units) {
    const auto width = static_cast<unsigned>(std::bit_width(units));
    const unsigned shift = width > kBits + 1 ? width - kBits - 1 : 0;
    return std::min<std::size_t>(shift * kPerOctave + (units >> shift), kBuckets - 1);
  }
  /// The least time that is longer than those in the bucket.
  static Time end_of(std::size_t bucket) {
    const std::size_t shift = bucket < 2 * kPerOctave ? 0 : bucket / kPerOctave - 1;
    return kUnit * ((bucket - shift * kPerOctave + 1) << shift);
  }

  std::array<Counter, kBuckets> counts_;
  Counter sum_;
  Counter longest_;
};

}  // namespace nfsrdma
