// What a peer that speaks iWARP can do wrong below RPC-over-RDMA, and in its header.
#pragma once

#include <vector>

#include "tests/hostile/iwarp_middleman.h"

namespace nfsrdma::hostile {

/// RDMA Writes: where they may not go, late, short, overlapping, cut.
std::vector<WireAttack> attacks_by_writes();
/// RDMA Reads of what was not lent, and more than are allowed.
std::vector<WireAttack> attacks_by_reads();
/// Segments that break the rules of DDP and RDMAP; Sends that invalidate.
std::vector<WireAttack> attacks_by_segments();
/// Terminate, FIN, RST and silence at each point of a call and of the startup.
std::vector<WireAttack> attacks_by_ends();
/// Each word of the reply's transport header replaced; replies of others, twice, late.
std::vector<WireAttack> attacks_by_replies();
/// Fields and bytes changed at random, by seeds.
std::vector<WireAttack> attacks_by_chance();

}  // namespace nfsrdma::hostile
