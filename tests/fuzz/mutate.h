// Damage to messages, of the kinds that decoders get wrong.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace nfsrdma::fuzz {

using Input = std::vector<std::uint8_t>;

/// Inputs never grow beyond this.
inline constexpr std::size_t kMaxInput = 64 * 1024;

/// Changes `input` in one to a few places; `other` is another input to take pieces from.
void mutate(Input& input, const Input& other, std::mt19937_64& engine);

}  // namespace nfsrdma::fuzz
