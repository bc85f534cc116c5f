// What every benchmark program measures and prints: one line of key=value pairs.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <vector>

namespace nfsrdma::bench {

/// Latencies of equal operations. Not thread safe.
class Sample {
 public:
  explicit Sample(std::size_t operations) { nanoseconds_.reserve(operations); }

  /// Runs one operation and notes how long it took. Returns what the operation returned.
  template <class Operation>
  auto measure(Operation&& operation) {
    const auto start = std::chrono::steady_clock::now();
    auto result = operation();
    nanoseconds_.push_back((std::chrono::steady_clock::now() - start).count());
    return result;
  }

  /// "ops=N bytes=B p50_us=X p99_us=Y mib_per_s=Z", the rate over the sum of all latencies.
  void print(std::size_t bytes_per_operation) {
    if (nanoseconds_.empty()) return;
    double total = 0;
    for (auto each : nanoseconds_) total += static_cast<double>(each);
    std::sort(nanoseconds_.begin(), nanoseconds_.end());
    constexpr double kNanosecondsPerMicrosecond = 1e3;
    constexpr double kNanosecondsPerSecond = 1e9;
    constexpr double kMiB = 1 << 20;
    const double bytes = static_cast<double>(nanoseconds_.size() * bytes_per_operation);
    std::printf("ops=%zu bytes=%.0f p50_us=%.1f p99_us=%.1f mib_per_s=%.1f\n", nanoseconds_.size(),
                bytes, percentile(50) / kNanosecondsPerMicrosecond,
                percentile(99) / kNanosecondsPerMicrosecond,
                bytes / kMiB / (total / kNanosecondsPerSecond));
  }

 private:
  double percentile(std::size_t percent) const {
    return static_cast<double>(nanoseconds_[(nanoseconds_.size() - 1) * percent / 100]);
  }

  std::vector<long> nanoseconds_;
};

}  // namespace nfsrdma::bench
