// Runs the client on a part of a recording.
#pragma once

#include <string>
#include <vector>

#include "tests/lab/rerun/playback.h"
#include "tests/lab/rerun/recording.h"

namespace nfsrdma::lab::rerun {

/// One line for each request of the kernel, callback, lost connection and order of the daemon that
/// can be left out: "entry 57 # request 12: READ of inode 5 ...".
std::string list_of(const Recording& recording);
/// The entries that a text of such lines names; an error where a line is none.
Result<std::vector<std::size_t>> read_list(const std::string& text);

struct ReducedOutcome {
  std::vector<std::string> given;  ///< what was given out, in lines
  std::string odd;                 ///< the first of them that the recording has not; empty: none
};

/// Mounts as in the recording, and then does only what the entries in `list` say. The server
/// answers a call as the recording has it for the same call, at about the same place. Leaves
/// everything as it is then. An error where the recording has no mount. `on_difference` is told,
/// and does not return, where not even the mount is as it was recorded.
Result<ReducedOutcome> run_reduced(const Recording& recording, std::vector<std::size_t> list,
                                   OnDifference on_difference);

}  // namespace nfsrdma::lab::rerun
