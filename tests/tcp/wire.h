// What travels on a TCP connection, built octet by octet for tests.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tests/rdma/harness.h"
#include "transport/tcp/record_mark.h"

namespace nfsrdma::test {

inline void append(Octets& to, std::span<const std::byte> octets) {
  to.insert(to.end(), octets.begin(), octets.end());
}

/// A message as one record of one fragment.
inline Octets record(std::span<const std::byte> message) {
  Octets octets;
  append(octets, tcp::encode({static_cast<std::uint32_t>(message.size()), true}));
  append(octets, message);
  return octets;
}

/// A message in fragments of at most `longest` octets, with `empty` empty ones behind each but the
/// last.
inline Octets fragments(std::span<const std::byte> message, std::size_t longest, int empty = 0) {
  Octets octets;
  for (std::size_t at = 0; at < message.size(); at += longest) {
    const auto part = message.subspan(at, std::min(longest, message.size() - at));
    const bool last = at + part.size() == message.size();
    append(octets, tcp::encode({static_cast<std::uint32_t>(part.size()), last}));
    append(octets, part);
    for (int i = 0; i < empty && !last; ++i) append(octets, tcp::encode({0, false}));
  }
  return octets;
}

struct ReadReply {
  std::uint32_t xid = 0;
  Octets data = {};
  std::uint32_t claimed = 0;  ///< the length that is said instead, if not 0
  std::size_t verifier = 0;   ///< octets of the verifier's body
  std::size_t tag = 0;
  Octets trailer = {};  ///< behind the data's pad
};

/// The reply to SEQUENCE, PUTFH, READ.
Octets read_reply(const ReadReply& reply);
/// The offset of the data in the shortest such reply.
inline constexpr std::size_t kReadOffset = 104;

}  // namespace nfsrdma::test
