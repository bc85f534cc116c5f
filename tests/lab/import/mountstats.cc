#include "tests/lab/import/mountstats.h"

#include <algorithm>

#include "tests/lab/import/trace_line.h"

namespace nfsrdma::lab::import {
namespace {

constexpr std::size_t kLongestOperation = 64;

/// "device SERVER:/EXPORT mounted on /MNT with fstype nfs4 statvers=1.1"
bool begins_mount(std::string_view line, MountStatistics& mount) {
  if (next_word(line) != "device") return false;
  std::string_view before;
  for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) {
    if (before == "on") mount.mount_point = word;
    before = word;
  }
  return true;
}

/// "READ: OPS TRANSMISSIONS TIMEOUTS SENT RECEIVED ..."
bool read_operation(std::string_view line, OperationCount& operation) {
  std::string_view name = next_word(line);
  if (!name.ends_with(':')) return false;
  name.remove_suffix(1);
  const auto requests = number(next_word(line));
  const auto transmissions = number(next_word(line));
  const auto timeouts = number(next_word(line));
  const auto sent = number(next_word(line));
  const auto received = number(next_word(line));
  if (!requests || !transmissions || !timeouts || !sent || !received) return false;
  operation = {std::string(name.substr(0, kLongestOperation)), *requests, *sent, *received};
  return true;
}

}  // namespace

std::uint64_t MountStatistics::requests() const {
  // Of a text that was made to harm the sum may be anything, but not more than fits.
  std::uint64_t sum = 0;
  for (const OperationCount& each : operations) sum += std::min(each.requests, UINT64_MAX - sum);
  return sum;
}

std::vector<MountStatistics> read_mountstats(std::string_view text) {
  std::vector<MountStatistics> mounts;
  bool counting = false;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    MountStatistics mount;
    if (begins_mount(line, mount)) {
      counting = false;
      if (mounts.size() < kMostMounts) mounts.push_back(std::move(mount));
      continue;
    }
    if (line.find("per-op statistics") != std::string_view::npos) counting = !mounts.empty();
    OperationCount operation;
    if (!counting || !read_operation(line, operation)) continue;
    auto& operations = mounts.back().operations;
    if (operations.size() < kMostOperations) operations.push_back(std::move(operation));
  }
  std::erase_if(mounts, [](const MountStatistics& each) { return each.operations.empty(); });
  return mounts;
}

}  // namespace nfsrdma::lab::import
