// SipHash-2-4: a keyed hash short enough to sign file handles with.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace nfsrdma::responder {

using SipKey = std::array<std::uint64_t, 2>;

std::uint64_t siphash(const SipKey& key, std::span<const std::byte> data);

}  // namespace nfsrdma::responder
