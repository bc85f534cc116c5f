// SEQUENCE (RFC 8881 sections 18.46 and 2.10.6): finds the slot and tells new requests from
// retried ones.
#pragma once

#include "client/proto/ops_session.h"
#include "tests/responder/nfs/compound_context.h"

namespace nfsrdma::responder {

enum class Admission {
  execute,   ///< a new request
  refused,   ///< SEQUENCE itself failed
  replay,    ///< a retry whose reply is in the slot
  uncached,  ///< a retry whose reply was not to be kept
};

/// A number that differs when the bytes of a request differ, or `salt` does, most likely.
std::uint64_t fingerprint_of(const xdr::Decoder& arguments, std::uint64_t salt = 0);

/// Fills in `result`, and session, client and slot of the context unless it refuses.
Admission admit(CompoundContext& context, const nfs4::SEQUENCE4args& args,
                std::uint64_t fingerprint, nfs4::SEQUENCE4res& result);

}  // namespace nfsrdma::responder
