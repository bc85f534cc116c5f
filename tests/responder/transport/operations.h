// The operations of a COMPOUND, found without executing it: for counters and fault scripts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "client/proto/opnum.h"
#include "transport/xdr/decoder.h"

namespace nfsrdma::responder {

inline constexpr std::uint32_t kOperationNumbers = nfs4::OP_RECLAIM_COMPLETE + 1;

/// The operation numbers at the start of one COMPOUND. Bounded; a longer one is cut.
class OperationList {
 public:
  static constexpr std::size_t kMaxListed = 16;

  bool contains(std::uint32_t number) const;
  std::span<const std::uint32_t> numbers() const { return {numbers_.data(), count_}; }
  /// False when the list is full.
  bool add(std::uint32_t number);

 private:
  std::array<std::uint32_t, kMaxListed> numbers_{};
  std::size_t count_ = 0;
};

/// Lists operations up to and including the first whose arguments it cannot step over (those with
/// unions: OPEN, CREATE, LOCK, EXCHANGE_ID, CREATE_SESSION) or that are malformed. `in` stands at
/// the COMPOUND's arguments.
OperationList list_operations(xdr::Decoder in);

/// 25 for "READ"; nothing for a name that NFSv4.1 does not have.
std::optional<std::uint32_t> operation_number(std::string_view name);

}  // namespace nfsrdma::responder
