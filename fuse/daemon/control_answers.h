// What a program can ask a daemon through its control socket:
//
//   identity   which mount this is: "name value" lines
//   counters   every counter: "name value" lines
//   requests   what waits, the oldest first, then what has ended last
//   ended K N  what has ended after the first K of the kernel's and the first N of the server's
//              requests, behind a line "next K N" of how many there have been
//   state      what is held at the server: opens, locks, delegations
//   reconnect  the connection to the server is ended and made anew
//   return     delegations are given back, in the background
//   drop       what is remembered of files is asked of the server anew
//   capture on [capture_view=VIEW] [capture_snap=BYTES] [capture_size=MIB]
//              with a file that is open for writing, or several for a ring: what is sent is
//              recorded there, from a new connection on
//   capture off
//   log LEVEL  trace, debug, info, warning or error: what the log says from now on
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "fuse/control/control_socket.h"
#include "fuse/daemon/backend.h"
#include "fuse/daemon/request_report.h"
#include "fuse/daemon/statistics.h"
#include "transport/base/result.h"

namespace nfsrdma::fuse {

/// How many requests have ended.
struct Ended {
  std::uint64_t of_kernel = 0;
  std::uint64_t of_server = 0;
};

/// Where the answers come from.
struct ControlSources {
  std::function<std::string()> identity;
  CounterSource counters;
  std::function<void(const LineSink&)> requests;
  std::function<void(const LineSink&)> state;
  // Called while mounted only.
  std::function<bool()> mounted;
  std::function<void()> reconnect;
  std::function<std::size_t()> return_delegations;
  std::function<std::size_t()> drop_caches;
  std::function<Result<void>(AskersFiles files, const CaptureTerms& terms)> start_capture;
  std::function<void()> stop_capture;

  /// Gives `line` what has ended since, and says how many have ended.
  std::function<Ended(Ended since, const LineSink& line)> ended;
};

/// Answers one request line, and the files that came with it, or says in the error's detail what
/// can be asked.
Result<std::string> answer_control(const ControlSources& sources, std::string_view request,
                                   AskersFiles files = {});

}  // namespace nfsrdma::fuse
