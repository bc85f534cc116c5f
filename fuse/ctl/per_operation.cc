#include "fuse/ctl/per_operation.h"

#include <fmt/format.h>

#include "fuse/ctl/text.h"

namespace nfsrdma::ctl {
namespace {

constexpr std::string_view kPrefix = "nfs_";
constexpr std::string_view kRequests = "_requests";

Times times_of(const Counters& counters, const std::string& prefix) {
  const auto get = [&](const char* what) { return value_of(counters, prefix + "_us_" + what); };
  return {get("sum"), get("mean"), get("p50"), get("p90"), get("p99"), get("max")};
}

PerOperation read_operation(const Counters& counters, const std::string& name) {
  const std::string prefix = fmt::format("{}{}_", kPrefix, name);
  const auto get = [&](const char* what) { return value_of(counters, prefix + what); };
  PerOperation operation;
  operation.name = name;
  operation.requests = get("requests");
  operation.sends = get("sends");
  operation.delays = get("delays");
  operation.bytes_sent = get("bytes_sent");
  operation.bytes_received = get("bytes_received");
  operation.errors = get("errors");
  operation.queue = times_of(counters, prefix + "queue");
  operation.round_trip = times_of(counters, prefix + "rtt");
  operation.execute = times_of(counters, prefix + "execute");
  const std::string failures = prefix + "errors_";
  for (auto each = counters.lower_bound(failures);
       each != counters.end() && each->first.starts_with(failures); ++each) {
    operation.failures.emplace_back(each->first.substr(failures.size()), each->second);
  }
  return operation;
}

std::string times_as_json(const Times& times) {
  return fmt::format(
      R"({{"sum_us":{},"mean_us":{},"p50_us":{},"p90_us":{},"p99_us":{},"max_us":{}}})", times.sum,
      times.mean, times.p50, times.p90, times.p99, times.longest);
}

}  // namespace

std::vector<PerOperation> per_operation(const Counters& counters) {
  std::vector<PerOperation> operations;
  for (auto each = counters.lower_bound(kPrefix);
       each != counters.end() && each->first.starts_with(kPrefix); ++each) {
    if (!each->first.ends_with(kRequests) || each->second == 0) continue;
    const std::size_t length = each->first.size() - kPrefix.size() - kRequests.size();
    operations.push_back(read_operation(counters, each->first.substr(kPrefix.size(), length)));
  }
  return operations;
}

std::string operation_table(const std::vector<PerOperation>& operations) {
  std::string text = fmt::format("{:<20} {:>9} {:>7} {:>12} {:>12} {:>9} {:>9} {:>9} {:>9} {:>9}\n",
                                 "operation", "requests", "errors", "bytes sent", "received",
                                 "queue us", "RTT us", "exec us", "exec p99", "exec max");
  for (const auto& each : operations) {
    text += fmt::format("{:<20} {:>9} {:>7} {:>12} {:>12} {:>9} {:>9} {:>9} {:>9} {:>9}\n",
                        each.name, each.requests, each.errors, each.bytes_sent, each.bytes_received,
                        each.queue.mean, each.round_trip.mean, each.execute.mean, each.execute.p99,
                        each.execute.longest);
  }
  for (const auto& each : operations) {
    if (each.sends > each.requests) {
      text += fmt::format("{}: sent again {} times\n", each.name, each.sends - each.requests);
    }
    if (each.delays > 0) {
      text += fmt::format("{}: put off by the server {} times\n", each.name, each.delays);
    }
    for (const auto& [status, count] : each.failures) {
      text += fmt::format("{}: {} {} times\n", each.name, status, count);
    }
  }
  return text;
}

std::string operations_as_json(const std::vector<PerOperation>& operations) {
  std::string text = "[";
  for (const auto& each : operations) {
    if (text.size() > 1) text += ',';
    text += fmt::format(R"({{"operation":{},"requests":{},"sends":{},"delays":{},"bytes_sent":{},)"
                        R"("bytes_received":{},"errors":{},"failures":{{)",
                        json_string(each.name), each.requests, each.sends, each.delays,
                        each.bytes_sent, each.bytes_received, each.errors);
    for (std::size_t i = 0; i < each.failures.size(); ++i) {
      text += fmt::format("{}{}:{}", i > 0 ? "," : "", json_string(each.failures[i].first),
                          each.failures[i].second);
    }
    text += fmt::format(R"(}},"queue":{},"rtt":{},"execute":{}}})", times_as_json(each.queue),
                        times_as_json(each.round_trip), times_as_json(each.execute));
  }
  return text + "]";
}

}  // namespace nfsrdma::ctl
