#include "client/state/state_report.h"

#include <fmt/format.h>

namespace nfsrdma::client {
namespace {

const char* access_name(std::uint32_t access) {
  switch (access) {
    case nfs4::OPEN4_SHARE_ACCESS_READ: return "read";
    case nfs4::OPEN4_SHARE_ACCESS_WRITE: return "write";
    case nfs4::OPEN4_SHARE_ACCESS_BOTH: return "read and write";
    default: return "not in use";
  }
}

std::string to_text(const LockedRange& locked) {
  const char* kind = locked.exclusive ? "exclusive" : "shared";
  if (locked.range.last == ByteRange::kEnd) {
    return fmt::format("{}, bytes {} to the end", kind, locked.range.first);
  }
  return fmt::format("{}, bytes {} to {}", kind, locked.range.first, locked.range.last);
}

void report_locks(const OpenFile& file, const LockState& lock, const StateLine& line) {
  const std::string who = fmt::format("lock inode {} by process {}: ", file.fileid(), lock.pid);
  const char* where = lock.at_server ? "" : ", known here only";
  for (const LockedRange& each : lock.ranges.all()) line(who + to_text(each) + where);
  for (const LockedRange& each : lock.lost_ranges.all()) {
    line(who + to_text(each) + ", taken away by the server");
  }
}

void report_open(OpenFile& file, const StateLine& line) {
  line(fmt::format("open inode {} by user {}: {}, {} times{}", file.fileid(), file.caller().uid,
                   access_name(file.share_access()), file.references(),
                   file.uses_delegation() ? ", under a delegation" : ""));
  for (const auto& lock : file.locks().all()) report_locks(file, *lock, line);
}

void report_delegation(const Delegation& delegation, const StateLine& line) {
  line(fmt::format("delegation inode {}: {}, {}{}", delegation.fileid(),
                   delegation.writes() ? "write" : "read",
                   delegation.in_use() ? "in use" : "not in use",
                   delegation.relied_upon() ? "" : ", is being returned"));
}

void report_rest(const char* kind, std::size_t all, const StateLine& line) {
  if (all > kReportedStates) line(fmt::format("more {}: {}", kind, all - kReportedStates));
}

}  // namespace

void report_state(const OpenTable& opens, const DelegationTable& delegations,
                  const StateLine& line) {
  opens.visit_some(kReportedStates, [&](OpenFile& file) { report_open(file, line); });
  report_rest("opens", opens.open_files(), line);
  delegations.visit_some(kReportedStates,
                         [&](const Delegation& each) { report_delegation(each, line); });
  report_rest("delegations", delegations.size(), line);
}

}  // namespace nfsrdma::client
