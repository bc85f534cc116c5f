// The kernel's FUSE request codes, for counting.
#pragma once

#include <cstdint>
#include <string_view>

namespace nfsrdma::fuse {

/// Codes from here on (and holes) are counted together, as "other".
inline constexpr std::uint32_t kOpcodes = 64;

/// "lookup", "read" ...; empty for a code this program has no name for.
std::string_view opcode_name(std::uint32_t opcode);

}  // namespace nfsrdma::fuse
