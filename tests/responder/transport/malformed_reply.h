// Spoils a finished reply the way a fault script asks for.
#pragma once

#include <span>

#include "tests/responder/transport/fault_script.h"
#include "tests/responder/transport/pieces.h"
#include "transport/rdma/header.h"

namespace nfsrdma::responder {

/// Changes that are made in the header's fields. Nothing for Malformed::none.
void spoil_header(Malformed kind, rdma::Header& header);

/// Changes that are made in bytes: of the encoded header in `memory`, and of the message behind it.
/// May shorten or lengthen either; added bytes lie in `memory`.
void spoil_message(Malformed kind, std::span<std::byte> memory, std::span<const std::byte>& header,
                   PieceList& message);

}  // namespace nfsrdma::responder
