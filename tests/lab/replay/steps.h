// A recording in the script form: each COMPOUND a statement, what the server gave a name.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tests/lab/replay/recording.h"
#include "tests/lab/text/node.h"

namespace nfsrdma::lab::replay {

struct Step {
  std::uint64_t frame = 0;        ///< of the call
  std::uint64_t reply_frame = 0;  ///< 0: no answer is expected
  std::string text;               ///< one statement, without the end of the line
  std::vector<std::byte> results;
  bool added = false;  ///< the client did not say it: it gets a handle that came with READDIR
};

struct Steps {
  std::string prologue;  ///< connect and session
  std::vector<Step> steps;
  std::size_t left_out = 0;    ///< COMPOUNDs that make, renew and end sessions
  std::size_t delayed = 0;     ///< those that the server asked to send again later
  std::size_t unreadable = 0;  ///< those whose arguments do not decode
  bool rooted = false;         ///< PUTFH $root is said instead of PUTROOTFH
};

/// Turns calls into statements. Handles, stateids, cookies, verifiers and ids that came in an
/// answer are named after it: $c7.GETFH.resok4.object. What no answer has is said as it is. Takes
/// the bytes out of `recording`. With `rooted`, $root is in the place of the server's root.
Steps make_steps(Recording& recording, bool rooted);

/// Results of a COMPOUND as a record, without what belongs to the session.
Node results_of(std::span<const std::byte> results);
/// The same of what a runner binds to $reply.
Node results_of(const Node& reply);

/// The status of an operation's result; empty: there is none.
std::string status_of(const Node& result);

}  // namespace nfsrdma::lab::replay
