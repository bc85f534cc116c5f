// Numbers that the kernel was told: of inodes and open files, here and in the recording.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace nfsrdma::lab::rerun {

/// Where requests are left out, what the others open has other numbers.
class KernelIds {
 public:
  /// The request with the numbers of this run; nothing where it names what this run has not, or
  /// where it is of a kind that need not be repeated.
  std::optional<std::vector<std::byte>> translate(std::span<const std::byte> request) const;
  /// What an answer to a request of this kind told, there and here: bodies, without the header.
  void learn(std::uint32_t opcode, std::span<const std::byte> recorded,
             std::span<const std::byte> made);

 private:
  using Numbers = std::map<std::uint64_t, std::uint64_t>;

  void learn_listing(std::span<const std::byte> recorded, std::span<const std::byte> made);

  Numbers nodes_{{1, 1}};  ///< FUSE_ROOT_ID
  Numbers files_;
  Numbers directories_;
};

}  // namespace nfsrdma::lab::rerun
