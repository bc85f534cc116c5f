// Entries of a recording in words, for people.
#pragma once

#include <string>

#include "tests/lab/rerun/recording.h"

namespace nfsrdma::lab::rerun {

/// One line: "call 7 of connection 1: XID 0x5, SEQUENCE {...} PUTFH {...}". Any bytes.
std::string to_words(const Entry& entry);

}  // namespace nfsrdma::lab::rerun
