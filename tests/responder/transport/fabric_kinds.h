// Faults at the fabric boundary, as a rule of the fault script names them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/faults/fabric_fault.h"

namespace nfsrdma::responder {

/// The fault with this name and value; nothing: there is none.
std::optional<faults::FabricFault> fabric_fault(std::string_view name, std::string_view value);
/// All of them as a rule has them: "write=cut:N".
std::vector<std::string> fabric_kinds();

}  // namespace nfsrdma::responder
