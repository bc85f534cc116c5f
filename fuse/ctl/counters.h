// Counters by name.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "fuse/ctl/ask.h"

namespace nfsrdma::ctl {

using Counters = std::map<std::string, std::uint64_t, std::less<>>;

/// From "name value" lines; lines of another form are passed over.
Counters parse_counters(std::string_view text);

/// The counters of a mount, from its daemon.
Result<Counters> counters_of(const Mount& mount);

/// 0 when there is none of the name.
std::uint64_t value_of(const Counters& counters, std::string_view name);

}  // namespace nfsrdma::ctl
