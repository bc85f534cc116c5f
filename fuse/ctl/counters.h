// Counters by name.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fuse/ctl/ask.h"

namespace nfsrdma::ctl {

using Counters = std::map<std::string, std::uint64_t, std::less<>>;

/// From "name value" lines; lines of another form are passed over.
Counters parse_counters(std::string_view text);

/// The counters of each mount, from its daemon, in their order; all are asked at once.
std::vector<Result<Counters>> counters_of(std::span<const Mount> mounts);

/// 0 when there is none of the name.
std::uint64_t value_of(const Counters& counters, std::string_view name);

}  // namespace nfsrdma::ctl
