// Callbacks that no server should send: for other sessions, in a wrong order, replayed, cut,
// unknown.
#pragma once

#include <span>

#include "tests/proto/operations.h"
#include "transport/xdr/encoder.h"

namespace nfsrdma::hostile {

/// What an encoder of callbacks knows.
struct Back {
  nfs4::sessionid4 session{};
  std::uint32_t turn = 0;  ///< of a burst, from 0
  /// A file that is delegated, where the test has one.
  nfs4::nfs_fh4 delegated{};
  /// CB_SEQUENCE numbers that the server has used before the burst.
  std::uint32_t used = 0;
};
using EncodeBack = void (*)(xdr::Encoder& out, const Back& back);

struct Callback {
  const char* name;
  EncodeBack encode;
};

/// They need nothing.
std::span<const Callback> hostile_callbacks();
/// About Back::delegated: what the server does not want, or with what it has not given.
std::span<const Callback> callbacks_about_a_delegation();

}  // namespace nfsrdma::hostile
