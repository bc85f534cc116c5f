#include "transport/fabric/iwarp/mpa_negotiation.h"

#include <fmt/core.h>

#include <algorithm>

namespace nfsrdma::fabric::iwarp {
namespace {

Error startup_error(Fault fault, std::string detail) {
  return Error{Layer::fabric, static_cast<int>(fault), "MPA startup", std::move(detail)};
}

/// How many Reads may be outstanding, given how many the peer says it accepts.
std::uint32_t limited_ord(std::uint32_t ours, const std::optional<EnhancedWords>& peer) {
  if (!peer || peer->ird == EnhancedWords::kNotNegotiated) return ours;
  return std::min<std::uint32_t>(ours, peer->ird);
}

}  // namespace

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
