// What travels on a TCP connection, built byte by byte for tests.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tests/transport/rdma/harness.h"
#include "transport/tcp/record_mark.h"

namespace nfsrdma::test {

inline void append(Bytes& to, std::span<const std::byte> bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}

/// A message as one record of one fragment.
inline Bytes record(std::span<const std::byte> message) {
  Bytes bytes;
  append(bytes, tcp::encode({static_cast<std::uint32_t>(message.size()), true}));
  append(bytes, message);
  return bytes;
}

/// A message in fragments of at most `longest` bytes, with `empty` empty ones behind each but the
/// last.
inline Bytes fragments(std::span<const std::byte> message, std::size_t longest, int empty = 0) {
  Bytes bytes;
  for (std::size_t at = 0; at < message.size(); at += longest) {
    const auto part = message.subspan(at, std::min(longest, message.size() - at));
    const bool last = at + part.size() == message.size();
    append(bytes, tcp::encode({static_cast<std::uint32_t>(part.size()), last}));
    append(bytes, part);
    for (int i = 0; i < empty && !last; ++i) append(bytes, tcp::encode({0, false}));
  }
  return bytes;
}

struct ReadReply {
  std::uint32_t xid = 0;
  Bytes data = {};
  std::uint32_t claimed = 0;  ///< the length that is said instead, if not 0
  std::size_t verifier = 0;   ///< bytes of the verifier's body
  std::size_t tag = 0;
  Bytes trailer = {};  ///< behind the data's pad
};

/// The reply to SEQUENCE, PUTFH, READ.
Bytes read_reply(const ReadReply& reply);
/// The offset of the data in the shortest such reply.
inline constexpr std::size_t kReadOffset = 104;

}  // namespace nfsrdma::test
