// Operations of a COMPOUND by their names.
#pragma once

#include <string>
#include <vector>

#include "tests/lab/text/parse.h"
#include "tests/proto/operations.h"
#include "transport/xdr/decoder.h"
#include "transport/xdr/encoder.h"

namespace nfsrdma::lab {

/// "READ {stateid=... offset=0 count=4096}". The name OP is any operation: {number=N body=0xHEX}.
struct OperationText {
  std::string name;
  Node arguments;
  int line = 0;
};

/// Whether an operation has that name.
bool is_operation(std::string_view name);

/// Reads "NAME [ARGUMENTS]"; an operation without arguments is its name alone.
Result<OperationText> read_operation(Tokens& tokens);

/// Encodes its number and arguments. Payload is left to the encoder (Encoder::payload), and views
/// `memory`.
Result<void> encode_operation(xdr::Encoder& out, const OperationText& operation,
                              TextMemory& memory);

/// Bytes of encoded arguments at most, without payload.
inline constexpr std::size_t kMaxArguments = 8 * 1024 * 1024;

/// The results of a COMPOUND: {status=NFS4_OK tag="" SEQUENCE={...} READ={...}}. What does not
/// decode ends the record with malformed="why". An operation that is not known has its number for a
/// name and, as the last one, its bytes.
Node decode_results(xdr::Decoder& in);

/// The same of a call's arguments: {tag="" minorversion=1 SEQUENCE={...} PUTFH={...}}.
Node decode_arguments(xdr::Decoder& in);
/// The same of CB_COMPOUND.
Node decode_callback_arguments(xdr::Decoder& in);

}  // namespace nfsrdma::lab
