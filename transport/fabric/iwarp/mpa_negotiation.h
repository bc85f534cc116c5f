// The agreement of the two MPA startup frames, as the initiator sees it: RFC 5044 section 7.1.2,
// RFC 6581 sections 4 to 9.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "transport/base/result.h"
#include "transport/fabric/fabric.h"
#include "transport/fabric/iwarp/mpa_frame.h"

namespace nfsrdma::fabric::iwarp {

inline constexpr std::uint8_t kMpaRevision1 = 1;
inline constexpr std::uint8_t kMpaRevision2 = 2;
/// Deeper queues of RDMA Reads cannot be told (14 bits, all ones has a meaning of its own).
inline constexpr std::uint32_t kMaxDepth = EnhancedWords::kNotNegotiated - 1;

/// The terms of one side of the negotiation.
struct Terms {
  std::uint32_t ird = 0;
  std::uint32_t ord = 0;
  bool crc = true;
  std::vector<std::byte> private_data;
  std::size_t max_segment = 0;  ///< EndpointOptions::max_segment
};

/// Errors: Fault resources when the private data is too long or the IRD is 0.
Result<Terms> make_terms(const EndpointOptions& options);

struct Agreement {
  std::uint8_t revision = kMpaRevision2;
  bool crc = true;
  std::uint32_t ird = 0;
  std::uint32_t ord = 0;
  std::size_t max_segment = 0;  ///< this side's own
};

/// The initiator's frame. Revision 2 is enhanced, revision 1 cannot be.
StartupFrame make_request(const Terms& terms, std::uint8_t revision);

/// The initiator's view of the reply. Whether to try again with revision 1 is asked first.
bool wants_revision_1(const StartupFrame& reply, std::uint8_t requested_revision);
Result<Agreement> judge_reply(const StartupFrame& reply, const Terms& terms,
                              std::uint8_t requested_revision);

/// What ends the startup of a connection, on either side.
Error startup_error(Fault fault, std::string detail);
/// How many Reads may be outstanding, given how many the peer says it accepts.
std::uint32_t limited_ord(std::uint32_t ours, const std::optional<EnhancedWords>& peer);

}  // namespace nfsrdma::fabric::iwarp
