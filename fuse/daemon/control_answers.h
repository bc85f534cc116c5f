// What a program can ask a daemon through its control socket:
//
//   identity   which mount this is: "name value" lines
//   counters   every counter: "name value" lines
//   requests   what waits, the oldest first, then what has ended last
//   state      what is held at the server: opens, locks, delegations
//   reconnect  the connection to the server is ended and made anew
//   return     delegations are given back, in the background
//   log LEVEL  trace, debug, info, warning or error: what the log says from now on
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "fuse/daemon/request_report.h"
#include "fuse/daemon/statistics.h"
#include "transport/base/result.h"

namespace nfsrdma::fuse {

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
};

/// Answers one request line, or says in the error's detail what can be asked.
Result<std::string> answer_control(const ControlSources& sources, std::string_view request);

}  // namespace nfsrdma::fuse
