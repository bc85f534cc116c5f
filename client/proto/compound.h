// COMPOUND and CB_COMPOUND: their headers, and their operations one after the other (RFC 8881
// sections 16.2 and 20).
#pragma once

#include "client/proto/operations.h"
#include "client/proto/ops_callback.h"

namespace nfsrdma::nfs4 {

inline constexpr std::uint32_t kProcCompound = 1;
inline constexpr std::uint32_t kProcCbNull = 0;
inline constexpr std::uint32_t kProcCbCompound = 1;

/// COMPOUND4res and CB_COMPOUND4res up to their results.
struct COMPOUND4res_header {
  nfsstat4 status = NFS4_OK;  ///< of the last operation that was evaluated
  std::string_view tag;
  std::uint32_t operations = 0;

  static void fields(auto& self, auto& visit) {
    visit("status", self.status);
    visit("tag", self.tag, kMaxText);
    visit("operations", self.operations);
  }
};
using CB_COMPOUND4res_header = COMPOUND4res_header;

struct CB_COMPOUND4args_header {
  std::string_view tag;
  std::uint32_t minorversion = kNfsMinorVersion1;
  std::uint32_t callback_ident = 0;  ///< not used in NFSv4.1
  std::uint32_t operations = 0;

  static void fields(auto& self, auto& visit) {
    visit("tag", self.tag, kMaxText);
    visit("minorversion", self.minorversion);
    visit("callback_ident", self.callback_ident);
    visit("operations", self.operations);
  }
};

/// Encodes a header whose `operations` is not known yet (its own value is written); returns the
/// offset of that word, for Encoder::patch. All headers end with it.
template <class Header>
std::size_t encode_header(xdr::Encoder& out, const Header& header) {
  encode(out, header);
  return out.size() - (out.ok() ? xdr::kUnit : 0);
}

/// Encodes one operation or result behind its number.
template <class Operation>
void encode_operation(xdr::Encoder& out, const Operation& operation) {
  out.u32(Operation::opnum);
  encode(out, operation);
}

}  // namespace nfsrdma::nfs4
