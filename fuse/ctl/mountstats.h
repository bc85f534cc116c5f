// The text of /proc/self/mountstats, as tools of nfs-utils read it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "fuse/ctl/ask.h"
#include "fuse/ctl/counters.h"

namespace nfsrdma::ctl {

/// One device, statvers=1.1. Counters that only the kernel's client has are 0.
std::string mountstats(const Mount& mount, const Counters& counters);

/// Its numbers as members of an object: age in seconds, and arrays in the kernel's order: events,
/// bytes, and for each operation its nine.
std::string mountstats_as_json(const Mount& mount, const Counters& counters);

/// The counters of its "events", in the kernel's order; empty where there is none.
std::span<const std::string_view> mountstats_events();

}  // namespace nfsrdma::ctl
