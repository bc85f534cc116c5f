// What the control socket of a proxy understands besides what every responder's does.
#pragma once

#include <string>
#include <string_view>

namespace nfsrdma::lab::proxy {

/// Why a proxy does not take this rule of a fault script, in a sentence; empty: it may.
std::string refusal_of(std::string_view spec);

/// The lines of `help`.
std::string help_text();

}  // namespace nfsrdma::lab::proxy
