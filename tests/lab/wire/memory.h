// Memory that a provider may reach.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <vector>

#include "transport/base/buffer.h"
#include "transport/base/result.h"
#include "transport/fabric/fabric.h"

namespace nfsrdma::lab {

/// Ordinary memory, whose ends a sanitizer watches; or, with register_with(), slots of pools that a
/// provider for devices knows. A piece returns when its Buffer goes, and must not outlive this.
class Memory final : private BufferOwner {
 public:
  /// From now on pieces are slots. This object outlives the fabric.
  void register_with(fabric::Fabric& fabric) { fabric_ = &fabric; }

  /// `size` bytes, all zero, at the beginning of what is returned. Fails where the provider cannot
  /// register more.
  Result<Buffer> acquire(std::size_t size);

 private:
  Result<Buffer> acquire_slot(std::size_t size);
  void take_back(std::byte* data) override { delete[] data; }

  fabric::Fabric* fabric_ = nullptr;
  std::map<std::size_t, std::vector<std::unique_ptr<BufferPool>>> pools_;  // by the slots' size
};

}  // namespace nfsrdma::lab
