// A message as one piece.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "transport/xdr/encoder.h"

namespace nfsrdma::testing_support {

/// The bytes of a message from `from` on, with its omitted items and their pads put back in place.
inline std::vector<std::byte> unreduced(const xdr::Encoder& message, std::size_t from = 0) {
  const auto encoded = message.encoded();
  std::vector<std::byte> whole;
  std::size_t done = from;
  const auto append = [&](std::span<const std::byte> part) {
    whole.insert(whole.end(), part.begin(), part.end());
  };
  for (const xdr::OmittedItem& item : message.omitted()) {
    append(encoded.subspan(done, item.offset - done));
    append(item.data);
    whole.resize(whole.size() + xdr::pad_of(item.data.size()));
    done = item.offset;
  }
  append(encoded.subspan(done));
  return whole;
}

}  // namespace nfsrdma::testing_support
