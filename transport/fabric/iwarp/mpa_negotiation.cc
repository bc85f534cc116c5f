#include "transport/fabric/iwarp/mpa_negotiation.h"

#include <fmt/core.h>

#include <algorithm>

namespace nfsrdma::fabric::iwarp {

Error startup_error(Fault fault, std::string detail) {
  return Error{Layer::fabric, static_cast<int>(fault), "MPA startup", std::move(detail)};
}

std::uint32_t limited_ord(std::uint32_t ours, const std::optional<EnhancedWords>& peer) {
  if (!peer || peer->ird == EnhancedWords::kNotNegotiated) return ours;
  return std::min<std::uint32_t>(ours, peer->ird);
}

Result<Terms> make_terms(const EndpointOptions& options) {
  constexpr std::size_t longest = kMaxPrivateData - kEnhancedWords;
  if (options.private_data.size() > longest) {
    return fail(
        startup_error(Fault::resources, fmt::format("private data of {} bytes, at most {} fit",
                                                    options.private_data.size(), longest)));
  }
  if (options.ird == 0) {
    return fail(startup_error(Fault::resources, "an IRD of 0: peers refuse that"));
  }
  Terms terms;
  terms.ird = std::min(options.ird, kMaxDepth);
  terms.ord = std::clamp<std::uint32_t>(options.ord, 1, kMaxDepth);
  terms.crc = options.crc;
  terms.max_segment = options.max_segment;
  terms.private_data.assign(options.private_data.begin(), options.private_data.end());
  return terms;
}

StartupFrame make_request(const Terms& terms, std::uint8_t revision) {
  StartupFrame request;
  request.kind = StartupFrame::Kind::request;
  request.crc = terms.crc;
  request.revision = revision;
  if (revision >= kMpaRevision2) {
    EnhancedWords& words = request.enhanced.emplace();
    words.ird = static_cast<std::uint16_t>(terms.ird);
    words.ord = static_cast<std::uint16_t>(terms.ord);
  }
  request.private_data = terms.private_data;
  return request;
}

bool wants_revision_1(const StartupFrame& reply, std::uint8_t requested_revision) {
  return requested_revision == kMpaRevision2 && reply.revision == kMpaRevision1;
}

Result<Agreement> judge_reply(const StartupFrame& reply, const Terms& terms,
                              std::uint8_t requested_revision) {
  if (reply.reject) {
    return fail(startup_error(Fault::rejected, fmt::format("MPA revision {}", requested_revision)));
  }
  if (reply.revision != requested_revision) {
    return fail(startup_error(Fault::protocol, fmt::format("revision {} answered with {}",
                                                           requested_revision, reply.revision)));
  }
  if (reply.markers) return fail(startup_error(Fault::protocol, "the peer asks for markers"));
  if (reply.enhanced && reply.enhanced->peer_to_peer) {
    return fail(startup_error(Fault::protocol, "peer-to-peer mode, which was not asked for"));
  }
  return Agreement{requested_revision, terms.crc || reply.crc, terms.ird,
                   limited_ord(terms.ord, reply.enhanced), terms.max_segment};
}

}  // namespace nfsrdma::fabric::iwarp
