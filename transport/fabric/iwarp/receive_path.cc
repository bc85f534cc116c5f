#include "transport/fabric/iwarp/receive_path.h"

#include <fmt/core.h>

#include <cassert>

namespace nfsrdma::fabric::iwarp {
namespace {

using DenialCodes = std::array<TerminateCode, 6>;  // by Denial

/// For an RDMA Write: DDP refuses a wrong STag, RDMAP a missing access right.
constexpr DenialCodes kWriteDenials = {
    TerminateCode{},       terminate::kDdpInvalidStag, terminate::kDdpForeignStag,
    terminate::kDdpBounds, terminate::kRdmapAccess,    terminate::kDdpWrap};
constexpr DenialCodes kReadDenials = {
    TerminateCode{},         terminate::kRdmapInvalidStag, terminate::kRdmapForeignStag,
    terminate::kRdmapBounds, terminate::kRdmapAccess,      terminate::kRdmapWrap};

tl::unexpected<Violation> denied(const DenialCodes& codes, Denial denial, const char* what,
                                 std::uint32_t stag, std::uint64_t offset, std::uint64_t length) {
  return violation(codes[static_cast<std::size_t>(denial)], Fault::remote_access,
                   fmt::format("{} STag {:#010x} {}: {} bytes at offset {:#018x}", what, stag,
                               denial_text(denial), length, offset));
}

/// The queue a message of this opcode must use.
std::uint32_t queue_of(Opcode opcode) {
  if (opcode == Opcode::read_request) return kReadRequestQueueNumber;
  return opcode == Opcode::terminate ? kTerminateQueueNumber : kSendQueueNumber;
}

bool must_be_tagged(Opcode opcode) {
  return opcode == Opcode::rdma_write || opcode == Opcode::read_response;
}

}  // namespace

void ReceivePath::post(ReceiveBuffer& buffer) {
  assert(!buffer.posted && !buffer.linked());  // I1, I2
  buffer.posted = true;
  buffers_.push_back(buffer);
}

void ReceivePath::release_buffers() {
  while (ReceiveBuffer* buffer = buffers_.pop_front()) buffer->posted = false;
}

std::span<const std::byte> ReceivePath::read_request_header() const {
  return std::span(control_).first(control_have_ == kReadRequestHeader ? control_have_ : 0);
}

Checked<> ReceivePath::judge_header(const DdpHeader& header) const {
  if (header.version != kDdpVersion) {
    return violation(header.tagged ? terminate::kDdpTaggedVersion : terminate::kDdpUntaggedVersion,
                     Fault::protocol, fmt::format("DDP version {}", header.version));
  }
  if (!header.tagged && header.qn > kTerminateQueueNumber) {
    return violation(terminate::kDdpInvalidQn, Fault::protocol,
                     fmt::format("DDP queue number {}", header.qn));
  }
  if (rdmap_version(header.rdmap_control) != kRdmapVersion) {
    return violation(terminate::kRdmapVersion, Fault::protocol,
                     fmt::format("RDMAP version {}", rdmap_version(header.rdmap_control)));
  }
  const Opcode opcode = rdmap_opcode(header.rdmap_control);
  const bool fits = is_known(opcode) && must_be_tagged(opcode) == header.tagged &&
                    (header.tagged || queue_of(opcode) == header.qn);
  if (fits) return {};
  return violation(
      terminate::kRdmapOpcode, Fault::protocol,
      fmt::format("{} ({}) in a segment that is {}, queue {}", opcode_name(opcode),
                  static_cast<int>(opcode), header.tagged ? "tagged" : "untagged", header.qn));
}

ReceivePath::Place ReceivePath::place(const DdpHeader& header, std::size_t length) {
  control_have_ = 0;
  if (auto judged = judge_header(header); !judged) return tl::unexpected(std::move(judged.error()));
  switch (rdmap_opcode(header.rdmap_control)) {
    case Opcode::rdma_write: return place_write(header, length);
    case Opcode::read_response: return reads_.place(header.stag, header.to, length);
    case Opcode::read_request: return place_control(header, length, requests_);
    case Opcode::terminate: return place_control(header, length, terminates_);
    default: return place_send(header, length);
  }
}

ReceivePath::Place ReceivePath::place_write(const DdpHeader& header, std::size_t length) {
  // RFC 5040 section 5.1: the STag of a Write of no bytes is not checked.
  if (length == 0) return std::span<std::byte>{};
  const auto target = stags_.find(owner_, header.stag, header.to, length, Access::remote_write);
  if (target.denial != Denial::none) {
    return denied(kWriteDenials, target.denial, "RDMA Write to", header.stag, header.to, length);
  }
  stags_.pin(target.index);
  pinned_ = target.index;
  return target.memory;
}

Checked<> ReceivePath::judge_sequence(const DdpHeader& header, const Untagged& queue) const {
  if (header.msn == queue.msn) return {};
  return violation(terminate::kDdpInvalidMsn, Fault::protocol,
                   fmt::format("message {} on queue {} where {} was expected", header.msn,
                               header.qn, queue.msn));
}

Checked<> ReceivePath::judge_offset(const DdpHeader& header, const Untagged& queue) const {
  if (header.mo == queue.received) return {};
  return violation(terminate::kDdpInvalidMo, Fault::protocol,
                   fmt::format("message offset {} where {} was expected (queue {}, message {})",
                               header.mo, queue.received, header.qn, header.msn));
}

ReceivePath::Place ReceivePath::place_send(const DdpHeader& header, std::size_t length) {
  if (auto judged = judge_sequence(header, sends_); !judged) {
    return tl::unexpected(std::move(judged.error()));
  }
  const Opcode opcode = rdmap_opcode(header.rdmap_control);
  if (sends_.received != 0 && opcode != sends_.opcode) {
    return violation(
        terminate::kRdmapOpcode, Fault::protocol,
        fmt::format("a {} continues as a {}", opcode_name(sends_.opcode), opcode_name(opcode)));
  }
  if (buffers_.empty()) {
    return violation(terminate::kDdpNoBuffer, Fault::receive_too_small,
                     fmt::format("no receive was posted for message {}", header.msn));
  }
  const std::span<std::byte> memory = buffers_.front().memory;
  if (length > memory.size() - sends_.received) {
    return violation(terminate::kDdpTooLong, Fault::receive_too_small,
                     fmt::format("message {} has at least {} bytes, the posted receive {}",
                                 header.msn, sends_.received + length, memory.size()));
  }
  sends_.opcode = opcode;
  return memory.subspan(sends_.received, length);
}

ReceivePath::Place ReceivePath::place_control(const DdpHeader& header, std::size_t length,
                                              Untagged& queue) {
  if (auto judged = judge_sequence(header, queue); !judged) {
    return tl::unexpected(std::move(judged.error()));
  }
  const bool is_request = header.qn == kReadRequestQueueNumber;
  const bool fits = is_request ? length == kReadRequestHeader : length <= kControlSpace;
  if (!fits || !header.last) {
    return violation(terminate::kDdpTooLong, Fault::protocol,
                     fmt::format("{} of {}{} bytes",
                                 opcode_name(is_request ? Opcode::read_request : Opcode::terminate),
                                 length, header.last ? "" : " or more"));
  }
  if (is_request && !inbound_.has_room()) {
    return violation(terminate::kDdpNoBuffer, Fault::protocol,
                     fmt::format("more than {} RDMA Reads at once", inbound_.limit()));
  }
  return std::span(control_).first(length);
}

Checked<> ReceivePath::deliver(const DdpHeader& header, std::size_t length) {
  if (!any_fpdu_) {
    any_fpdu_ = true;
    events_.on_first_fpdu();
  }
  switch (rdmap_opcode(header.rdmap_control)) {
    case Opcode::rdma_write: return deliver_write(header, length);
    case Opcode::read_response: return deliver_read_response(header, length);
    case Opcode::read_request: return deliver_read_request(header, length);
    case Opcode::terminate: return deliver_terminate(header, length);
    default: return deliver_send(header, length);
  }
}

Checked<> ReceivePath::deliver_write(const DdpHeader& header, std::size_t length) {
  counters_.write_bytes_placed.add(length);
  if (pinned_ != StagTable::kNoIndex) stags_.note_placed(pinned_, header.to, length);
  unpin();
  return {};
}

void ReceivePath::unpin() {
  if (pinned_ == StagTable::kNoIndex) return;
  Lease* released = stags_.unpin(pinned_);
  pinned_ = StagTable::kNoIndex;
  if (released != nullptr) events_.on_lease_released(*released);
}

Checked<> ReceivePath::deliver_read_response(const DdpHeader& header, std::size_t length) {
  counters_.read_bytes_placed.add(length);
  void* context = nullptr;
  auto done = reads_.deliver(length, header.last, context);
  if (!done) return tl::unexpected(std::move(done.error()));
  if (*done) events_.on_read_done(context);
  return {};
}

Checked<> ReceivePath::deliver_send(const DdpHeader& header, std::size_t length) {
  if (auto judged = judge_offset(header, sends_); !judged) return judged;
  sends_.received += length;
  if (!header.last) return {};
  std::optional<std::uint32_t> invalidated;
  if (invalidates(sends_.opcode)) {
    if (auto done = invalidate(header); !done) return done;
    invalidated = header.ulp_word;
  }
  ReceiveBuffer& buffer = *buffers_.pop_front();
  buffer.posted = false;
  const std::size_t total = sends_.received;
  sends_.received = 0;
  ++sends_.msn;
  counters_.receives.add();
  events_.on_message(buffer, total, invalidated);
  return {};
}

Checked<> ReceivePath::invalidate(const DdpHeader& header) {
  const Denial denial = stags_.invalidate(owner_, header.ulp_word);
  if (denial != Denial::none) {
    return violation(terminate::kRdmapCannotInvalidate, Fault::remote_access,
                     fmt::format("Send with Invalidate of STag {:#010x} {}", header.ulp_word,
                                 denial_text(denial)));
  }
  counters_.invalidations_remote.add();
  return {};
}

Checked<> ReceivePath::deliver_read_request(const DdpHeader& header, std::size_t length) {
  control_have_ = length;
  if (auto judged = judge_offset(header, requests_); !judged) return judged;
  ++requests_.msn;
  counters_.read_requests_received.add();
  const ReadRequest request = decode_read_request(control_.data());
  InboundRead read;
  read.sink_stag = request.sink_stag;
  read.sink_to = request.sink_to;
  // RFC 5040 section 5.2: the source of a Read of no bytes is not checked.
  if (request.size != 0) {
    const auto source = stags_.find(owner_, request.source_stag, request.source_to, request.size,
                                    Access::remote_read);
    if (source.denial != Denial::none) {
      return denied(kReadDenials, source.denial, "RDMA Read from", request.source_stag,
                    request.source_to, request.size);
    }
    stags_.pin(source.index);
    read.lease = source.index;
    read.source = source.memory;
  }
  inbound_.push(read);
  events_.on_read_requested();
  return {};
}

Checked<> ReceivePath::deliver_terminate(const DdpHeader& header, std::size_t length) {
  if (auto judged = judge_offset(header, terminates_); !judged) return judged;
  counters_.terminates_received.add();
  const auto code = decode_terminate(std::span(control_).first(length));
  events_.on_terminated(code.value_or(terminate::kRdmapUnspecified));
  return {};
}

}  // namespace nfsrdma::fabric::iwarp
