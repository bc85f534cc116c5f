// What somebody may have meant who wrote a word that is not known.
#pragma once

#include <span>
#include <string_view>

namespace nfsrdma {

/// The known word from which `word` differs in the fewest letters: at most two, one for short
/// words. Empty: none is near.
std::string_view most_similar(std::string_view word, std::span<const std::string_view> known);

}  // namespace nfsrdma
