// What a server answers otherwise than the one in the capture did.
#pragma once

#include <optional>

#include "tests/lab/script/compare.h"

namespace nfsrdma::lab::replay {

/// The first difference of two answers to a COMPOUND (results_of()): the status of each operation
/// goes before its results. Not compared are handles, stateids, ids, verifiers, cookies, times,
/// change attributes, free space and the lease.
std::optional<script::Difference> find_difference(const Node& captured, const Node& came);

}  // namespace nfsrdma::lab::replay
