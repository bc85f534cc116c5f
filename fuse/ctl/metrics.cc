#include "fuse/ctl/metrics.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "fuse/ctl/text.h"

namespace nfsrdma::ctl {
namespace {

std::string escaped(std::string_view text) {
  std::string label;
  for (const char c : as_utf8(text)) {
    if (c == '"' || c == '\\') label += '\\';
    if (c == '\n') {
      label += "\\n";
    } else {
      label += c;
    }
  }
  return label;
}

bool is_metric_name(std::string_view name) {
  return name.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") ==
         std::string_view::npos;
}

/// Name of the metric, and labels of its own; empty where there is none.
struct Sample {
  std::string metric;
  std::string_view operation;
  std::string_view status;
};

constexpr std::string_view kOperation = "nfs_";

/// "nfs_READ_rtt_us_p99" is nfsrdma_nfs_rtt_us_p99 of operation READ; a status is a label, too. The
/// names of operations have capitals, those of counters have none.
Sample sample_of(std::string_view counter) {
  if (!counter.starts_with(kOperation)) return {std::string(counter), {}, {}};
  const std::string_view rest = counter.substr(kOperation.size());
  std::size_t end = 0;
  while (end < rest.size() && (rest[end] < 'a' || rest[end] > 'z')) ++end;
  if (end < 2 || end == rest.size()) return {std::string(counter), {}, {}};
  const std::string_view operation = rest.substr(0, end - 1);
  const std::string_view what = rest.substr(end);
  constexpr std::string_view kErrors = "errors_";
  if (!what.starts_with(kErrors)) return {fmt::format("{}{}", kOperation, what), operation, {}};
  return {"nfs_errors_by_status", operation, what.substr(kErrors.size())};
}

/// `take(mount, sample, value)` for every counter that has a name for a metric.
template <class Take>
void for_each_sample(const std::vector<std::pair<Mount, Counters>>& mounts, Take&& take) {
  for (const auto& [mount, counters] : mounts) {
    for (const auto& [name, value] : counters) {
      if (is_metric_name(name)) take(mount, sample_of(name), value);
    }
  }
}

std::string labels_of(const Mount& mount) {
  return fmt::format("mount_point=\"{}\",source=\"{}\"", escaped(mount.get("mount_point")),
                     escaped(mount.get("source")));
}

std::string mount_families(const std::vector<Mount>& mounts) {
  std::string info = "# TYPE nfsrdma_mount info\n";
  std::string seconds = "# TYPE nfsrdma_mount_seconds gauge\n";
  std::string waiting = "# TYPE nfsrdma_mount_waiting_seconds gauge\n";
  for (const Mount& mount : mounts) {
    const std::string labels = labels_of(mount);
    info += fmt::format("nfsrdma_mount_info{{{},state=\"{}\",connection=\"{}\",pid=\"{}\"}} 1\n",
                        labels, escaped(mount.get("state")), escaped(mount.get("connection")),
                        mount.number("pid"));
    seconds += fmt::format("nfsrdma_mount_seconds{{{}}} {}\n", labels, mount.number("seconds"));
    waiting += fmt::format("nfsrdma_mount_waiting_seconds{{{}}} {}\n", labels,
                           mount.number("waiting_seconds"));
  }
  return info + seconds + waiting;
}

}  // namespace

std::string metrics_of_all() {
  Mounts mounts = all_mounts();
  std::size_t silent = mounts.silent.size();
  std::vector<std::pair<Mount, Counters>> all;
  for (const Mount& mount : mounts.answer) {
    auto counters = counters_of(mount);
    if (!counters) {
      ++silent;
      continue;
    }
    all.emplace_back(mount, std::move(*counters));
  }
  return fmt::format("# TYPE nfsrdma_silent_mounts gauge\nnfsrdma_silent_mounts {}\n", silent) +
         mount_families(mounts.answer) + open_metrics(all);
}

std::string open_metrics(const std::vector<std::pair<Mount, Counters>>& mounts) {
  std::map<std::string, std::string> families;  // OpenMetrics wants all samples of one together
  for_each_sample(mounts, [&](const Mount& mount, const Sample& sample, std::uint64_t value) {
    std::string labels = labels_of(mount);
    if (!sample.operation.empty()) labels += fmt::format(",operation=\"{}\"", sample.operation);
    if (!sample.status.empty()) labels += fmt::format(",status=\"{}\"", sample.status);
    families[sample.metric] += fmt::format("nfsrdma_{}{{{}}} {}\n", sample.metric, labels, value);
  });
  std::string text;
  for (const auto& [metric, samples] : families) {
    text += fmt::format("# TYPE nfsrdma_{} unknown\n{}", metric, samples);
  }
  return text + "# EOF\n";
}

std::string metrics_as_json(const std::vector<std::pair<Mount, Counters>>& mounts) {
  std::string text;
  for_each_sample(mounts, [&](const Mount& mount, const Sample& sample, std::uint64_t value) {
    text += fmt::format(R"({}{{"name":"nfsrdma_{}","mount_point":{},"source":{})",
                        text.empty() ? "" : ",", sample.metric,
                        json_string(mount.get("mount_point")), json_string(mount.get("source")));
    if (!sample.operation.empty()) text += fmt::format(R"(,"operation":"{}")", sample.operation);
    if (!sample.status.empty()) text += fmt::format(R"(,"status":"{}")", sample.status);
    text += fmt::format(R"(,"value":{}}})", value);
  });
  return "[" + text + "]";
}

}  // namespace nfsrdma::ctl
