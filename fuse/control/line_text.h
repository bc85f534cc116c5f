// Text that stays within its line, whatever is in it: names of files are any bytes but 0 and "/".
#pragma once

#include <string>
#include <string_view>

namespace nfsrdma::fuse {

/// Control characters, backslashes and those of `others` as \ooo, as the kernel writes mountinfo.
std::string escape_line(std::string_view text, std::string_view others = {});

/// The text that was escaped.
std::string unescape_line(std::string_view text);

}  // namespace nfsrdma::fuse
