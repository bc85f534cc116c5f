#include "fuse/daemon/request_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace nfsrdma::fuse {
namespace {

std::string waiting_text(const PendingRequest& pending, TimePoint now) {
  const std::chrono::duration<double> waited = now - pending.begun;
  return fmt::format("request {}: {} of inode {} by process {} began {:.3f} s ago{}{}",
                     pending.unique, opcode_name(pending.opcode), pending.node, pending.context.pid,
                     waited.count(), pending.answered ? ", is answered and goes on" : "",
                     pending.interrupted ? ", its caller got a signal" : "");
}

std::string to_text(const EndedRequest& ended) {
  const std::chrono::duration<double, std::micro> taken = ended.answered - ended.received;
  return fmt::format(
      "request {}: {} of inode {} by process {}: {:.1f} us; {} bytes, {} answered; "
      "errno {}",
      ended.unique, opcode_name(ended.opcode), ended.node, ended.pid, taken.count(),
      ended.bytes_received, ended.bytes_sent, ended.error_number);
}

}  // namespace

void report_kernel_requests(InFlight& in_flight, TimePoint now, const LineSink& line) {
  std::size_t left = kReportedRequests;
  in_flight.visit_running([&](const PendingRequest& pending) {
    if (left == 0) return;
    --left;
    line("waiting " + waiting_text(pending, now));
  });
  in_flight.visit_ended(kReportedRequests,
                        [&](const EndedRequest& ended) { line("ended " + to_text(ended)); });
}

std::uint64_t report_ended(const InFlight& in_flight, std::uint64_t after, const LineSink& line) {
  const std::uint64_t ended = in_flight.ended();
  in_flight.visit_ended(ended - std::min(after, ended),
                        [&](const EndedRequest& each) { line("ended " + to_text(each)); });
  return ended;
}

}  // namespace nfsrdma::fuse
