// What the responder answers to an MPA Request: RFC 5044 section 7.1.2, RFC 6581 sections 4 to 9.
#pragma once

#include <cstddef>
#include <span>

#include "transport/base/result.h"
#include "transport/fabric/iwarp/mpa_negotiation.h"

namespace nfsrdma::fabric::iwarp {

/// The responder's view of a request: an error says why it must be refused, before the consumer is
/// asked.
Result<void> judge_request(const StartupFrame& request);

struct Answer {
  StartupFrame reply;
  Agreement agreement;
};

/// The Reply with which these terms accept a request, and what both sides have agreed on then.
Answer answer_request(const StartupFrame& request, const Terms& terms);
/// The Reply that rejects; private data that is too long is cut.
StartupFrame make_rejection(const StartupFrame& request, std::span<const std::byte> private_data);

}  // namespace nfsrdma::fabric::iwarp
