// Handling of a call from any transport: the RPC layer's answers, and the fault script.
#pragma once

#include <cstdint>
#include <optional>

#include "tests/responder/transport/core.h"
#include "transport/rpc/message.h"
#include "transport/xdr/decoder.h"
#include "transport/xdr/encoder.h"

namespace nfsrdma::responder {

/// auth_stat AUTH_BADCRED (RFC 5531 section 9).
inline constexpr std::uint32_t kAuthBadCredential = 1;

/// AUTH_NONE or a well-formed AUTH_SYS.
bool credential_acceptable(const rpc::CallHeader& header);
/// The answer to a call that is not for the service; nothing when it is.
std::optional<rpc::AcceptStat> answer_without_service(const rpc::CallHeader& header);
/// The operations of a call whose header has been decoded; none of one that is no COMPOUND.
OperationList operations_of(const rpc::CallHeader& header, const xdr::Decoder& arguments);
/// Makes `results` the reply that says `status`, which is not SUCCESS.
void encode_failure(xdr::Encoder& results, std::uint32_t xid, rpc::AcceptStat status);

}  // namespace nfsrdma::responder
