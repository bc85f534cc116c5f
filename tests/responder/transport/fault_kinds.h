// The kinds of fault that a rule of the fault script can name, in one table: what sets them, and
// what lists them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/responder/transport/fault_script.h"

namespace nfsrdma::responder {

/// Sets the effect and the level of `rule`, whose name and value are set. False: no such kind, or a
/// bad value.
bool set_effect(FaultRule& rule);

/// Every kind as a rule has it: "drop-reply", "delay=MS", and one for each value that has a name,
/// as in "malformed=oversize". Those of calls first.
std::vector<std::string> fault_kinds();

/// The values of lie=, in the same way.
std::vector<std::string> lie_kinds();

/// Those kinds whose name this is, or all when none is; in one line, for messages.
std::string fault_kinds_like(std::string_view name);

}  // namespace nfsrdma::responder
