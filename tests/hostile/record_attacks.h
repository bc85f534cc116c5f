// What a server that speaks TCP can do wrong below the results of a COMPOUND.
#pragma once

#include <vector>

#include "tests/hostile/record_middleman.h"

namespace nfsrdma::hostile {

/// Records cut, in pieces, of lengths that lie; replies late, twice, of others; words of the RPC
/// header replaced.
std::vector<RecordAttack> record_attacks();

}  // namespace nfsrdma::hostile
