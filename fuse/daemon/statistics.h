// Writing counters for people and for tests: one "name value" a line.
#pragma once

#include <functional>
#include <string>

#include "transport/base/metrics.h"

namespace nfsrdma::fuse {

using CounterSource = std::function<void(CounterVisitor&)>;

std::string format_counters(const CounterSource& source);
void log_counters(const CounterSource& source);

}  // namespace nfsrdma::fuse
