// Whether the processors that a thread may run on have time to spare for it.
#pragma once

#include <functional>
#include <optional>

#include "transport/base/reactor.h"

namespace nfsrdma {

/// What the kernel has counted, each since a start of its own.
struct ProcessorTimes {
  TimePoint at{};     ///< when it was looked at
  Duration idle{};    ///< of all processors together that this thread may run on
  Duration queued{};  ///< this thread wanted one and waited, also for its cgroup's quota
};

/// Those of the calling thread, from /proc. None: this system does not tell.
std::optional<ProcessorTimes> read_processor_times(TimePoint now);

/// Whether this thread can stay awake instead of sleeping and still leave a processor idle. Looks
/// ten times a second at most, and less and less often where a yes does not last. Belongs to one
/// thread.
class SpareProcessor {
 public:
  using Source = std::function<std::optional<ProcessorTimes>(TimePoint)>;

  /// `source`: read_processor_times, or a test's.
  explicit SpareProcessor(Source source);

  /// Whether there was one when it was last looked at. No until there are two looks to compare.
  /// `slept`: how long the thread has slept so far where it would have stayed awake.
  bool has(TimePoint now, Duration slept);

 private:
  struct Look {
    ProcessorTimes times;
    Duration slept;
  };
  static bool spare(const Look& before, const Look& after);

  Source source_;
  std::optional<Look> last_;
  TimePoint next_look_{};
  Duration penalty_;  ///< how long the next no lasts that comes after a yes
  bool has_ = false;
};

}  // namespace nfsrdma
