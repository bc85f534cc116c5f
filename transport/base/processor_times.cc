#include "transport/base/processor_times.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "transport/base/file_start.h"
#include "transport/base/line_text.h"

namespace nfsrdma {
namespace {

constexpr Duration kBetweenLooks = std::chrono::milliseconds(100);
/// A try takes a twentieth of it: what that costs others is lost in noise, and work that begins
/// meanwhile waits no longer.
constexpr Duration kLongestPenalty = std::chrono::seconds(2);
constexpr std::size_t kMostOfOwn = 128;     ///< bytes: three numbers
constexpr std::size_t kMostOfStat = 65536;  ///< bytes: the lines of some 800 processors

/// Takes the number that `text` begins with, after blanks. None: there is no number.
std::optional<std::uint64_t> take_number(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  std::uint64_t number = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
  if (end.ec != std::errc()) return {};
  text.remove_prefix(static_cast<std::size_t>(end.ptr - text.data()));
  return number;
}

/// Clock ticks of the columns `idle` and `iowait`: "user nice system idle iowait ...".
std::optional<std::uint64_t> idle_ticks(std::string_view columns) {
  constexpr int kBeforeIdle = 3;
  for (int column = 0; column < kBeforeIdle; ++column) {
    if (!take_number(columns)) return {};
  }
  const auto idle = take_number(columns);
  const auto waiting = take_number(columns);
  if (!idle || !waiting) return {};
  return *idle + *waiting;
}

/// proc_stat(5): a line "cpuN ..." for each processor that is online.
std::optional<Duration> idle_time(std::string_view text, const cpu_set_t& allowed) {
  const auto tick = Duration(std::chrono::seconds(1)) / ::sysconf(_SC_CLK_TCK);
  std::uint64_t ticks = 0;
  take_line(text);  // "cpu ...": the sum of all
  while (text.starts_with("cpu")) {
    std::string_view line = take_line(text).substr(std::string_view("cpu").size());
    const auto processor = take_number(line);
    if (!processor) return {};
    const bool counts = *processor < CPU_SETSIZE && CPU_ISSET(*processor, &allowed);
    const auto idle = idle_ticks(line);
    if (!idle) return {};
    if (counts) ticks += *idle;
  }
  return tick * ticks;
}

}  // namespace

std::optional<ProcessorTimes> read_processor_times(TimePoint now) {
  // "nanoseconds on a processor, nanoseconds in the run queue, times"
  std::array<char, kMostOfOwn> own;
  std::string_view columns = read_start_of("/proc/thread-self/schedstat", own);
  take_number(columns);
  const auto queued = take_number(columns);
  cpu_set_t allowed;
  if (!queued || ::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return {};
  std::array<char, kMostOfStat> stat;
  const auto idle = idle_time(read_start_of("/proc/stat", stat), allowed);
  if (!idle) return {};
  return ProcessorTimes{now, *idle, Duration(*queued)};
}

SpareProcessor::SpareProcessor(Source source)
    : source_(std::move(source)), penalty_(kBetweenLooks) {}

/// A quarter of a processor at least stays idle, and one is there for this thread most of the
/// time.
bool SpareProcessor::spare(const Look& before, const Look& after) {
  constexpr int kIdlePart = 4;
  constexpr int kQueuedPart = 4;
  const Duration passed = after.times.at - before.times.at;
  const Duration idle = after.times.idle - before.times.idle;
  return idle - (after.slept - before.slept) >= passed / kIdlePart &&
         after.times.queued - before.times.queued <= passed / kQueuedPart;
}

bool SpareProcessor::has(TimePoint now, Duration slept) {
  if (now < next_look_) return has_;
  const bool had = has_;
  std::optional<Look> look;
  if (const auto times = source_(now)) look = Look{*times, slept};
  has_ = look && last_ && spare(*last_, *look);
  last_ = look;
  next_look_ = now + kBetweenLooks;
  if (!had) return has_;
  if (has_) {
    penalty_ = kBetweenLooks;
  } else {
    // Staying awake took a processor from others, or used up a quota: each time again, if it were
    // tried as soon as there is one again.
    next_look_ = now + penalty_;
    penalty_ = std::min(penalty_ * 2, kLongestPenalty);
  }
  return has_;
}

}  // namespace nfsrdma
