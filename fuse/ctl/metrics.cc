#include "fuse/ctl/metrics.h"

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "fuse/ctl/text.h"
#include "transport/base/line_text.h"

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

using Labels = std::pair<std::string_view, std::string_view>;

Labels key_of(const Mount& mount) { return {mount.get("mount_point"), mount.get("source")}; }

/// After umount -l and another mount of the same there are two for a while. Prometheus takes no
/// series twice, and one that stood for the process would begin anew with each: the younger one,
/// which programs find there, has it.
class Youngest {
 public:
  void add(const Mount& mount) {
    const auto age = age_of(mount);
    const auto [place, first] = of_.try_emplace(key_of(mount), age, &mount);
    if (!first && age < place->second.first) place->second = {age, &mount};
  }
  bool is(const Mount& mount) const { return of_.at(key_of(mount)).second == &mount; }

 private:
  static std::uint64_t age_of(const Mount& mount) {
    return whole_number<std::uint64_t>(mount.number("seconds"))
        .value_or(std::numeric_limits<std::uint64_t>::max());
  }

  std::map<Labels, std::pair<std::uint64_t, const Mount*>> of_;
};

/// `take(mount, sample, value)` for every counter that has a name for a metric.
template <class Take>
void for_each_sample(const std::vector<std::pair<Mount, Counters>>& mounts, Take&& take) {
  Youngest youngest;
  for (const auto& each : mounts) youngest.add(each.first);
  for (const auto& [mount, counters] : mounts) {
    if (!youngest.is(mount)) continue;
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
  Youngest youngest;
  for (const Mount& mount : mounts) youngest.add(mount);
  std::set<std::string> info;  // two containers may have the same process id
  std::string seconds = "# TYPE nfsrdma_mount_seconds gauge\n";
  std::string waiting = "# TYPE nfsrdma_mount_waiting_seconds gauge\n";
  for (const Mount& mount : mounts) {
    const std::string labels = labels_of(mount);
    info.insert(fmt::format(
        "nfsrdma_mount_info{{{},state=\"{}\",connection=\"{}\",pid=\"{}\"}} 1\n", labels,
        escaped(mount.get("state")), escaped(mount.get("connection")), mount.number("pid")));
    if (!youngest.is(mount)) continue;
    seconds += fmt::format("nfsrdma_mount_seconds{{{}}} {}\n", labels, mount.number("seconds"));
    waiting += fmt::format("nfsrdma_mount_waiting_seconds{{{}}} {}\n", labels,
                           mount.number("waiting_seconds"));
  }
  return fmt::format("# TYPE nfsrdma_mount info\n{}{}{}", fmt::join(info, ""), seconds, waiting);
}

}  // namespace

std::string metrics_of_all() {
  Mounts mounts = all_mounts();
  std::size_t silent = mounts.silent.size();
  std::vector<std::pair<Mount, Counters>> all;
  auto counters = counters_of(mounts.answer);
  for (std::size_t i = 0; i < counters.size(); ++i) {
    if (counters[i]) {
      all.emplace_back(mounts.answer[i], std::move(*counters[i]));
    } else {
      ++silent;
    }
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
  // Without lines of their types: unknown is what they are then, and the older text format, which
  // node_exporter reads, does not know the word.
  for (const auto& [metric, samples] : families) text += samples;
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
