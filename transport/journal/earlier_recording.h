// What an earlier run has left where a recording is about to begin.
#pragma once

#include <string>

#include "transport/base/reactor.h"
#include "transport/base/result.h"

namespace nfsrdma::journal {

/// Where the part before the present one is, of a recording of which only the last seconds are
/// kept.
std::string older(const std::string& path);

/// Renames what is in `path` to `path`.old, which is replaced: it may be the recording of a crash,
/// and the program is started again by itself. With `parts` the older part becomes `path`.old.1. A
/// recording without a request of the kernel stays where it is, to be emptied: starts that fail one
/// after the other do not cost what came before them. A failure to rename is logged: recording goes
/// on without. Refuses what open_capture_file() refuses, after `patience`.
Result<void> keep_earlier_recording(const std::string& path, bool parts, Duration patience);

}  // namespace nfsrdma::journal
