#include "tests/oracle/random.h"

namespace nfsrdma::oracle {

std::span<const std::byte> Random::bytes_exactly(std::size_t size) {
  auto& data = storage_.emplace_back(size);
  // Never zero: libtirpc's string<> ends at a zero byte.
  for (auto& byte : data) byte = static_cast<std::byte>(1 + below(255));
  return data;
}

std::span<const std::byte> Random::bytes(std::size_t bound) {
  constexpr std::uint32_t kOneInHowManyIsLong = 16;
  if (below(kOneInHowManyIsLong) == 0) return bytes_exactly(std::min(bound, kLongBytes));
  const auto most = static_cast<std::uint32_t>(std::min(bound, kMostBytes));
  return bytes_exactly(below(most + 1));
}

void Random::took(const char* name, std::uint32_t arm, std::uint32_t arms) {
  auto& taken = taken_[name];
  taken.arms.insert(arm);
  taken.of = std::max(taken.of, arms);
}

std::vector<std::string> Random::arms_not_taken() const {
  std::vector<std::string> missing;
  for (const auto& [name, taken] : taken_) {
    for (std::uint32_t arm = 0; arm < taken.of; ++arm) {
      if (!taken.arms.contains(arm)) missing.push_back(name + "/" + std::to_string(arm));
    }
  }
  return missing;
}

}  // namespace nfsrdma::oracle
