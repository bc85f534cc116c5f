// Lists the state held at the server, in lines for people.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

#include "client/state/delegation_table.h"
#include "client/state/open_table.h"

namespace nfsrdma::client {

using StateLine = std::function<void(std::string_view)>;

/// Of each kind; with more the lines would hold up the shard.
inline constexpr std::size_t kReportedStates = 1000;

/// "open inode 12 by user 1000: read and write, 2 times", "lock inode 12 by process 34: exclusive,
/// bytes 0 to the end", "delegation inode 12: write, in use", and how many are left out. Locks are
/// those of the opens that are told.
void report_state(const OpenTable& opens, const DelegationTable& delegations,
                  const StateLine& line);

}  // namespace nfsrdma::client
