#include <fmt/format.h>

#include <algorithm>

#include "fuse/ctl/per_operation.h"

namespace nfsrdma::ctl {
namespace {

constexpr double kMebibyte = 1024 * 1024;

/// Percentiles cannot be taken from each other.
Times difference(const Times& before, const Times& now) {
  Times times;
  times.sum = now.sum - before.sum;
  return times;
}

PerOperation difference(const PerOperation& before, const PerOperation& now) {
  PerOperation done;
  done.name = now.name;
  done.requests = now.requests - before.requests;
  done.sends = now.sends - before.sends;
  done.delays = now.delays - before.delays;
  done.bytes_sent = now.bytes_sent - before.bytes_sent;
  done.bytes_received = now.bytes_received - before.bytes_received;
  done.errors = now.errors - before.errors;
  done.queue = difference(before.queue, now.queue);
  done.round_trip = difference(before.round_trip, now.round_trip);
  done.execute = difference(before.execute, now.execute);
  return done;
}

double mean(const Times& times, std::uint64_t requests) {
  return static_cast<double>(times.sum) / static_cast<double>(requests);
}

}  // namespace

std::vector<PerOperation> since(const std::vector<PerOperation>& before,
                                const std::vector<PerOperation>& now) {
  std::vector<PerOperation> done;
  for (const PerOperation& each : now) {
    const auto old = std::ranges::find(before, each.name, &PerOperation::name);
    const bool same = old != before.end() && old->requests <= each.requests;
    PerOperation change = difference(same ? *old : PerOperation{}, each);
    if (change.requests > 0) done.push_back(std::move(change));
  }
  std::ranges::stable_sort(done, std::greater(),
                           [](const PerOperation& each) { return each.execute.sum; });
  return done;
}

std::string rate_table(const std::vector<PerOperation>& done, double seconds) {
  std::string text =
      fmt::format("{:<20} {:>9} {:>8} {:>10} {:>10} {:>9} {:>9} {:>9}\n", "operation", "per s",
                  "errors", "MiB/s sent", "received", "queue us", "RTT us", "exec us");
  for (const auto& each : done) {
    const auto rate = [&](std::uint64_t count) { return static_cast<double>(count) / seconds; };
    text +=
        fmt::format("{:<20} {:>9.1f} {:>8} {:>10.2f} {:>10.2f} {:>9.0f} {:>9.0f} {:>9.0f}\n",
                    each.name, rate(each.requests), each.errors, rate(each.bytes_sent) / kMebibyte,
                    rate(each.bytes_received) / kMebibyte, mean(each.queue, each.requests),
                    mean(each.round_trip, each.requests), mean(each.execute, each.requests));
  }
  return text;
}

}  // namespace nfsrdma::ctl
