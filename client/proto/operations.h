// What a COMPOUND must know of an operation besides its arguments: its row of operations.def.
#pragma once

#include <cstddef>
#include <cstdint>

#include "client/proto/attributes.h"
#include "client/proto/ops_attr.h"
#include "client/proto/ops_data.h"
#include "client/proto/ops_lock.h"
#include "client/proto/ops_namespace.h"
#include "client/proto/ops_open.h"
#include "client/proto/ops_session.h"
#include "client/proto/result_sizes.h"

namespace nfsrdma::nfs4 {

inline constexpr std::uint32_t kNfsMinorVersion1 = 1;

/// What an operation does to the server's state or files; operations.def says what follows of it.
enum class Effect : std::uint8_t { asks, changes };

/// What the arguments of an operation do not alter.
struct OperationFacts {
  std::uint32_t minor_version = 0;  ///< the first that has it
  Effect effect = Effect::asks;
  std::uint32_t states = 0;    ///< stateids that its arguments name at most
  std::uint32_t payloads = 0;  ///< DDP-eligible items of its result
};

/// The row of the operation with these arguments: `facts`, and max_result(args), bytes of the
/// result at most, without operation number, status and payload.
template <class Args>
struct OperationRow;

#define NFSRDMA_OPERATION(NAME, number, minor, effect, states, payloads, max_bytes) \
  template <>                                                                       \
  struct OperationRow<NAME##4args> {                                                \
    static constexpr OperationFacts facts{minor, Effect::effect, states, payloads}; \
    static std::size_t max_result([[maybe_unused]] const NAME##4args & args) {      \
      using namespace result_size;                                                  \
      return max_bytes;                                                             \
    }                                                                               \
  };
#include "client/proto/operations.def"

/// The facts by number; without anything for an operation that this client does not send.
constexpr OperationFacts operation_facts(std::uint32_t opnum) {
  // clang-format off
  switch (opnum) {
#define NFSRDMA_OPERATION(NAME, number, ...) case number: return OperationRow<NAME##4args>::facts;
#include "client/proto/operations.def"
    default: return {};
  }
  // clang-format on
}

}  // namespace nfsrdma::nfs4
