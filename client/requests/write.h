// WRITE (RFC 8881 section 18.32), with the change attribute before and the size, change and times
// afterwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "client/compound/state_holder.h"
#include "client/proto/object.h"
#include "client/proto/ops_data.h"

namespace nfsrdma::client {

struct RequestContext;

struct Written {
  std::uint32_t count = 0;  ///< bytes; may be less than asked, never 0 of a non-empty write
  nfs4::stable_how4 committed = nfs4::UNSTABLE4;
  nfs4::verifier4 verifier{};
  std::optional<Attributes> attributes;        ///< change, size, space_used, time_modify, ...
  std::optional<std::uint64_t> change_before;  ///< the change attribute before the WRITE
};

/// Writes at most wsize bytes of `data`, which is registered memory that stays untouched until
/// the operation has ended.
Task<Result<Written>> write(RequestContext& context, Credential caller, FileHandle file,
                            StateRef state, std::uint64_t offset, std::span<const std::byte> data,
                            nfs4::stable_how4 stable);

}  // namespace nfsrdma::client
