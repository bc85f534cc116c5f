#include "transport/fabric/iwarp/read_queue.h"

#include <fmt/core.h>

#include <cassert>

namespace nfsrdma::fabric::iwarp {
namespace {

constexpr std::size_t kMaxWaitingReads = 1 << 16;
/// Sink offsets have the top bit clear, so that no Read wraps.
constexpr std::uint64_t kOffsetMask = ~std::uint64_t{0} >> 1;

Error resources(const char* why) {
  return Error{Layer::fabric, static_cast<int>(Fault::resources), "RDMA Read", why};
}

}  // namespace

Result<void> OutboundReads::post(std::span<std::byte> into, const Segment& from, void* context) {
  assert(into.size() >= from.length);
  if (ord_ == 0) return fail(resources("the peer accepts no RDMA Reads"));
  if (reads_.size() >= kMaxWaitingReads) return fail(resources("too many RDMA Reads at once"));
  Read read;
  read.into = into.first(from.length);
  read.from = from;
  read.context = context;
  reads_.push(read);
  return {};
}

ReadRequest OutboundReads::take_request() {
  assert(can_request());
  Read& read = reads_[requested_++];
  const std::uint64_t chance = random_.next();
  read.sink_stag = StagTable::kFirstSinkStag | static_cast<std::uint32_t>(chance >> 32);
  read.sink_to = random_.next() & kOffsetMask;
  return ReadRequest{read.sink_stag, read.sink_to, read.from.length, read.from.handle,
                     read.from.offset};
}

Checked<std::span<std::byte>> OutboundReads::place(std::uint32_t stag, std::uint64_t to,
                                                   std::size_t length) {
  if (outstanding() == 0) {
    return violation(terminate::kRdmapOpcode, Fault::protocol,
                     "RDMA Read Response without a Read Request");
  }
  Read& read = reads_.front();
  if (stag != read.sink_stag) {
    return violation(terminate::kDdpInvalidStag, Fault::protocol,
                     fmt::format("RDMA Read Response to STag {:#010x} instead of {:#010x}", stag,
                                 read.sink_stag));
  }
  if (to != read.sink_to + read.received || length > read.into.size() - read.received) {
    return violation(
        terminate::kDdpBounds, Fault::protocol,
        fmt::format("RDMA Read Response of {} bytes to offset {} of a Read of {} bytes, {} of "
                    "which have arrived",
                    length, to - read.sink_to, read.into.size(), read.received));
  }
  return read.into.subspan(read.received, length);
}

Checked<bool> OutboundReads::deliver(std::size_t length, bool last, void*& context) {
  Read& read = reads_.front();
  read.received += length;
  const bool whole = read.received == read.into.size();
  if (last && !whole) {
    return violation(terminate::kRdmapUnspecified, Fault::protocol,
                     fmt::format("RDMA Read Response ended after {} of {} bytes", read.received,
                                 read.into.size()));
  }
  if (!last) return false;
  context = read.context;
  reads_.pop();
  return true;
}

void OutboundReads::clear() {
  reads_.clear();
  requested_ = reads_.tail();
}

bool InboundReads::take_written(InboundRead& read) {
  if (reads_.head() == written_) return false;
  read = reads_.front();
  reads_.pop();
  return true;
}

void InboundReads::clear() {
  reads_.clear();
  framed_ = written_ = reads_.tail();
}

}  // namespace nfsrdma::fabric::iwarp
