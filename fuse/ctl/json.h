// JSON (RFC 8259) of what this program prints.
#pragma once

#include <string>
#include <string_view>

namespace nfsrdma::ctl {

/// With its quotes. Control characters are escaped; bytes that are not UTF-8 become U+FFFD.
std::string json_string(std::string_view text);

}  // namespace nfsrdma::ctl
