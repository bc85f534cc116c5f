// The memory of the pools, registered with one device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "transport/base/result.h"
#include "transport/fabric/fabric.h"
#include "transport/fabric/verbs/handles.h"

namespace nfsrdma::fabric::verbs {

/// How memory becomes reachable for the peer.
enum class Tier : std::uint8_t {
  windows,      ///< regions have no remote right; a type-2 memory window gives it for one call
  static_keys,  ///< one region readable and one writable for every peer with the key
};
const char* tier_name(Tier tier);

/// One pool. `local` serves local access in both tiers, and RDMA Writes of the peer in the static
/// one; `readable` exists in the static tier.
struct Region {
  std::span<std::byte> memory;
  RegionHandle local;
  RegionHandle readable;

  bool contains(const std::byte* at, std::size_t length) const {
    return at >= memory.data() && length <= memory.size() &&
           static_cast<std::size_t>(at - memory.data()) <= memory.size() - length;
  }
};

class MemoryRegions {
 public:
  MemoryRegions(ibv_pd* domain, Tier tier) : domain_(domain), tier_(tier) {}

  /// So many bytes of pools will be added in all: for the error of add.
  void expect(std::size_t bytes) { expected_ = bytes; }
  /// Registers memory once, however often it is named. Pins it: the error for too small an
  /// RLIMIT_MEMLOCK says how large it must be.
  Result<void> add(std::span<std::byte> memory);
  /// Null when the memory was not registered. Valid until this object goes.
  const Region* find(const std::byte* at, std::size_t length) const;

 private:
  RegionHandle register_for(std::span<std::byte> memory, int access) const;
  Error too_little(int error_number, std::size_t bytes) const;

  ibv_pd* domain_;
  Tier tier_;
  std::vector<std::unique_ptr<Region>> regions_;
  std::size_t expected_ = 0;
  std::size_t pinned_ = 0;  // bytes, counted once for each registration, as the kernel does
};

}  // namespace nfsrdma::fabric::verbs
