// Recordings of this build: for tests, and as seeds of a fuzz target.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace nfsrdma::lab::rerun::test {

using Bytes = std::vector<std::byte>;

/// A file is made, written, read and closed; the connection breaks in between. Two requests of it,
/// FSYNC and the read, follow the loss. Throws where the mount does not work.
Bytes record_writes();
/// Directories: made, listed with attributes, renamed, linked, removed; a lock, a size.
Bytes record_names();
/// Two mounts in each other's way: the recording of the one whose delegations are recalled.
Bytes record_recall();
/// Several hundred requests: small writes and appends that the next request does not wait for,
/// reads of them, names that replace open files, lists. The same each time.
Bytes record_workload();

}  // namespace nfsrdma::lab::rerun::test
