// The attributes a caller may set, for SETATTR, OPEN with create, and CREATE.
#pragma once

#include <cstdint>
#include <optional>

#include "client/proto/object.h"

namespace nfsrdma::client {

/// A time to set: the server's clock, or the given one.
struct SetTime {
  bool server_time = true;
  nfs4::nfstime4 time{};  ///< used when server_time is false
};

/// Only members with a value are set.
struct SetAttributes {
  std::optional<std::uint64_t> size;  ///< bytes
  std::optional<std::uint32_t> mode;  ///< permission bits, 07777
  std::optional<std::uint32_t> uid;
  std::optional<std::uint32_t> gid;
  std::optional<SetTime> access_time;
  std::optional<SetTime> modify_time;

  bool empty() const { return !size && !mode && !uid && !gid && !access_time && !modify_time; }
};

}  // namespace nfsrdma::client
