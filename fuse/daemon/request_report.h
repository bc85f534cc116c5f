// Requests that wait and requests that were answered last, in lines for the log.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "fuse/channel/in_flight.h"

namespace nfsrdma::fuse {

using LineSink = std::function<void(std::string_view)>;

/// Of requests that wait, and of the last ones that ended, each.
inline constexpr std::size_t kReportedRequests = 32;

/// Requests of the kernel: those that wait, the oldest first, then the last that were answered.
void report_kernel_requests(InFlight& in_flight, TimePoint now, const LineSink& line);
/// Those that were answered after the first `after`, as far as they are kept; how many were
/// answered by now.
std::uint64_t report_ended(const InFlight& in_flight, std::uint64_t after, const LineSink& line);

}  // namespace nfsrdma::fuse
