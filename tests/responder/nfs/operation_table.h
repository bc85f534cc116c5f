// Which operations there are, and what each needs.
#pragma once

#include <cstdint>

#include "client/proto/status.h"
#include "tests/responder/nfs/compound_context.h"

namespace nfsrdma::responder {

/// Requirements and effects of an operation; bits of OperationRow::traits.
enum Trait : unsigned {
  kNeedsCurrent = 1,  ///< a current file handle
  kNeedsSaved = 2,    ///< a saved file handle
  kChangesState = 4,  ///< must not be executed when its result may not fit
  kModifies = 8,      ///< changes the file system: refused by a read-only export
  kSessionless = 16,  ///< may be the only operation of a COMPOUND without SEQUENCE
};

/// How one operation is executed, and how its result looks when it is refused without that.
struct OperationRow {
  /// Decodes the arguments, executes, encodes the result; null when not supported.
  nfs4::nfsstat4 (*execute)(CompoundContext&) = nullptr;
  void (*encode_refusal)(xdr::Encoder&, nfs4::nfsstat4) = nullptr;
  unsigned traits = 0;
};

/// Of any number; those that are not supported, and SEQUENCE, have no `execute`.
const OperationRow& operation_row(std::uint32_t opnum);

}  // namespace nfsrdma::responder
