#include "fuse/ctl/mountstats.h"

#include <fmt/format.h>

#include <array>
#include <span>

#include "fuse/ctl/per_operation.h"
#include "fuse/ctl/text.h"
#include "transport/base/line_text.h"

namespace nfsrdma::ctl {
namespace {

constexpr std::string_view kOpens = "fuse_requests_open";
constexpr std::uint64_t kMicrosecondsPerMillisecond = 1000;

std::string join(const Counters& counters, std::span<const std::string_view> names,
                 char between = ' ') {
  std::string text;
  for (const std::string_view name : names) {
    if (!text.empty()) text += between;
    auto value = name.empty() ? 0 : value_of(counters, name);
    if (name == kOpens) value += value_of(counters, "fuse_requests_create");  // opens them, too
    text += fmt::to_string(value);
  }
  return text;
}

/// In the order of enum nfs_stat_eventcounters (include/linux/nfs_iostat.h); empty: not counted
/// here.
constexpr std::array<std::string_view, 27> kEvents{"fuse_requests_getattr",
                                                   "",
                                                   "",
                                                   "",
                                                   kOpens,
                                                   "fuse_requests_lookup",
                                                   "fuse_requests_access",
                                                   "",
                                                   "",
                                                   "fuse_requests_read",
                                                   "",
                                                   "fuse_requests_write",
                                                   "fuse_requests_readdirplus",
                                                   "fuse_requests_setattr",
                                                   "fuse_requests_flush",
                                                   "fuse_requests_fsync",
                                                   "fuse_requests_setlk",
                                                   "fuse_requests_release",
                                                   "",
                                                   "",
                                                   "",
                                                   "",
                                                   "",
                                                   "",
                                                   "",
                                                   "",
                                                   ""};

/// Of enum nfs_stat_bytecounters. Reads and writes of programs are not seen here, as the kernel has
/// pages of its own: only bytes from and to the server are counted, headers included.
constexpr std::array<std::string_view, 8> kBytes{
    "", "", "", "", "nfs_READ_bytes_received", "nfs_WRITE_bytes_sent", "", ""};

/// As both transports have them: bind and connect counts and times, sends, receives, bad XIDs, and
/// 0 for what follows (xs_tcp_print_stats and xprt_rdma_print_stats of the kernel).
std::string transport_line(const Mount& mount, const Counters& counters) {
  const bool rdma = mount.get("connection").find("rdma") != std::string::npos;
  constexpr int kZerosOfTcp = 5;
  constexpr int kZerosOfRdma = 19;
  const auto sends = value_of(counters, "sends");
  const auto replies = value_of(counters, rdma ? "receives" : "replies");
  std::string text = fmt::format("\txprt:\t{} 0 0 {} 0 0 {} {} {}", rdma ? "rdma" : "tcp",
                                 value_of(counters, "connections"), sends, replies,
                                 value_of(counters, "bad_xids"));
  for (int i = 0; i < (rdma ? kZerosOfRdma : kZerosOfTcp); ++i) text += " 0";
  return text + '\n';
}

/// The kernel's numbers of an operation, in its order: requests, sends, timeouts, bytes out and in,
/// milliseconds in the queue, at the server and in all, errors.
std::array<std::uint64_t, 9> numbers_of(const PerOperation& each) {
  constexpr std::uint64_t kTimeouts = 0;  // none of an RPC: only a connection's end sends it again
  return {each.requests,
          each.sends,
          kTimeouts,
          each.bytes_sent,
          each.bytes_received,
          each.queue.sum / kMicrosecondsPerMillisecond,
          each.round_trip.sum / kMicrosecondsPerMillisecond,
          each.execute.sum / kMicrosecondsPerMillisecond,
          each.errors};
}

std::vector<PerOperation> operations_of(const Counters& counters) {
  auto operations = per_operation(counters);
  // The tools look for these two by name.
  for (const char* always : {"READ", "WRITE"}) {
    const bool there = value_of(counters, fmt::format("nfs_{}_requests", always)) > 0;
    if (!there) operations.emplace_back().name = always;
  }
  return operations;
}

}  // namespace

std::span<const std::string_view> mountstats_events() { return kEvents; }

std::string mountstats(const Mount& mount, const Counters& counters) {
  constexpr std::string_view kBlank = " ";  // the tools take words of the line
  std::string text = fmt::format(
      "device {} mounted on {} with fstype nfs4 statvers=1.1\n"
      "\topts:\trw,vers=4.1,proto={},sec=sys\n\tage:\t{}\n\tcaps:\tcaps=0x0,wtmult=1,bsize=0,"
      "namlen=255\n"
      "\tnfsv4:\tbm0=0x0,bm1=0x0,bm2=0x0,acl=0x0,sessions,pnfs=not configured\n"
      "\tsec:\tflavor=1,pseudoflavor=1\n\tevents:\t{}\n\tbytes:\t{}\n"
      "\tRPC iostats version: 1.1  p/v: 100003/4 (nfs)\n",
      escape_line(mount.get("source"), kBlank), escape_line(mount.get("mount_point"), kBlank),
      mount.get("connection").find("rdma") != std::string::npos ? "rdma" : "tcp",
      mount.number("seconds"), join(counters, kEvents), join(counters, kBytes));
  text += transport_line(mount, counters);
  text += "\tper-op statistics\n\t        NULL: 0 0 0 0 0 0 0 0 0\n";
  for (const auto& each : operations_of(counters)) {
    text += fmt::format("\t{:>12}: {}\n", each.name, fmt::join(numbers_of(each), " "));
  }
  return text + '\n';
}

std::string mountstats_as_json(const Mount& mount, const Counters& counters) {
  std::string operations;
  for (const auto& each : operations_of(counters)) {
    operations += fmt::format(R"({}{}:[{}])", operations.empty() ? "" : ",", json_string(each.name),
                              fmt::join(numbers_of(each), ","));
  }
  return fmt::format(R"("age":{},"events":[{}],"bytes":[{}],"operations":{{{}}})",
                     mount.number("seconds"), join(counters, kEvents, ','),
                     join(counters, kBytes, ','), operations);
}

}  // namespace nfsrdma::ctl
