// Operation numbers of NFSv4.1 COMPOUND and CB_COMPOUND (RFC 8881 sections 16.2 and 20),
// from the rows of operations.def.
#pragma once

#include <cstdint>
#include <string_view>

namespace nfsrdma::nfs4 {

enum nfs_opnum4 : std::uint32_t {
#define NFSRDMA_UNTYPED_OPERATION(NAME, number, minor) OP_##NAME = number,
#include "client/proto/operations.def"
  OP_ILLEGAL = 10044,
};

enum nfs_cb_opnum4 : std::uint32_t {
#define NFSRDMA_UNTYPED_CALLBACK(NAME, number) OP_##NAME = number,
#include "client/proto/operations.def"
  OP_CB_ILLEGAL = 10044,
};

/// "READ" or "CB_RECALL"; "unknown" for a number the protocol does not define. A zero follows it.
std::string_view operation_name(nfs_opnum4 opnum);
std::string_view operation_name(nfs_cb_opnum4 opnum);
bool is_defined(nfs_opnum4 opnum);
bool is_defined(nfs_cb_opnum4 opnum);

}  // namespace nfsrdma::nfs4
