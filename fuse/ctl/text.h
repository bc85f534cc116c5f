// Texts of JSON and OpenMetrics are UTF-8; names of files may be any bytes.
#pragma once

#include <string>
#include <string_view>

namespace nfsrdma::ctl {

/// Bytes that are not UTF-8 (RFC 3629) become U+FFFD, one by one.
std::string as_utf8(std::string_view text);

/// As a string of JSON (RFC 8259), with its quotes. Control characters are escaped; bytes that are
/// not UTF-8 become U+FFFD.
std::string json_string(std::string_view text);

}  // namespace nfsrdma::ctl
