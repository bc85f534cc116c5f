// Lists of options as mount(8) writes them: `a,b=c\,d`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nfsrdma::fuse {

/// Splits at commas. A backslash makes the next character ordinary; empty items are left out.
std::vector<std::string> split_option_list(std::string_view list);

}  // namespace nfsrdma::fuse
