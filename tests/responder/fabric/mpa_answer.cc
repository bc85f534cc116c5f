#include "tests/responder/fabric/mpa_answer.h"

#include <fmt/core.h>

#include <algorithm>

namespace nfsrdma::fabric::iwarp {

Result<void> judge_request(const StartupFrame& request) {
  if (request.revision != kMpaRevision1 && request.revision != kMpaRevision2) {
    return fail(startup_error(Fault::protocol, fmt::format("MPA revision {}", request.revision)));
  }
  if (request.markers) return fail(startup_error(Fault::protocol, "the peer asks for markers"));
  if (request.reject) return fail(startup_error(Fault::protocol, "a request with the reject flag"));
  const auto& words = request.enhanced;
  if (words && words->peer_to_peer && !words->rtr_write && !words->rtr_read) {
    return fail(startup_error(Fault::protocol,
                              "peer-to-peer mode with no ready-to-receive message but a Send"));
  }
  return {};
}

Answer answer_request(const StartupFrame& request, const Terms& terms) {
  Answer answer;
  answer.agreement.revision = request.revision;
  answer.agreement.crc = terms.crc || request.crc;
  answer.agreement.ird = terms.ird;
  answer.agreement.max_segment = terms.max_segment;
  answer.agreement.ord = limited_ord(terms.ord, request.enhanced);

  StartupFrame& reply = answer.reply;
  reply.kind = StartupFrame::Kind::reply;
  reply.revision = request.revision;
  reply.crc = answer.agreement.crc;
  reply.private_data = terms.private_data;
  if (request.enhanced) {
    EnhancedWords& words = reply.enhanced.emplace();
    words.ird = static_cast<std::uint16_t>(terms.ird);
    words.ord = static_cast<std::uint16_t>(answer.agreement.ord);
    // Of the ready-to-receive messages that the peer offers, a Write costs less than a Read.
    words.peer_to_peer = request.enhanced->peer_to_peer;
    words.rtr_write = words.peer_to_peer && request.enhanced->rtr_write;
    words.rtr_read = words.peer_to_peer && !words.rtr_write;
  }
  return answer;
}

StartupFrame make_rejection(const StartupFrame& request, std::span<const std::byte> private_data) {
  StartupFrame reply;
  reply.kind = StartupFrame::Kind::reply;
  reply.reject = true;
  reply.crc = request.crc;
  // If the request asks for a higher revision, the reply names the highest that is spoken here.
  reply.revision = std::min(request.revision, kMpaRevision2);
  if (request.enhanced) reply.enhanced = EnhancedWords{};
  const std::size_t fits = kMaxPrivateData - (reply.enhanced ? kEnhancedWords : 0);
  const auto kept = private_data.first(std::min(private_data.size(), fits));
  reply.private_data.assign(kept.begin(), kept.end());
  return reply;
}

}  // namespace nfsrdma::fabric::iwarp
