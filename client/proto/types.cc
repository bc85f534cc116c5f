#include "client/proto/types.h"

namespace nfsrdma::nfs4 {

void bitmap4::encode_to(xdr::Encoder& out) const {
  std::size_t used = kWords;
  while (used > 0 && words[used - 1] == 0) --used;
  out.u32(static_cast<std::uint32_t>(used));
  for (std::size_t i = 0; i < used; ++i) out.u32(words[i]);
}

void bitmap4::decode_from(xdr::Decoder& in, const char* name) {
  words.fill(0);
  const std::uint32_t sent = in.count(kMaxArray, xdr::kUnit, name);
  for (std::uint32_t i = 0; i < sent; ++i) {
    const std::uint32_t word = in.u32(name);
    if (i < kWords) {
      words[i] = word;
    } else if (word != 0) {
      in.set_fault(xdr::Fault::too_long, name);
      return;
    }
  }
}

}  // namespace nfsrdma::nfs4
