// Names of lies and callbacks, as fault scripts write them.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace nfsrdma::hostile {

/// The name with hyphens for blanks.
inline std::string as_word(std::string_view name) {
  std::string word(name);
  std::ranges::replace(word, ' ', '-');
  return word;
}

}  // namespace nfsrdma::hostile
