#include "transport/recording/recorded_endpoint.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>

#include "transport/base/unique_fd.h"
#include "transport/net/tcp_stream.h"
#include "transport/xdr/decoder.h"

namespace nfsrdma::recording {
namespace {

using capture::RoceFlow;
using From = capture::RoceFlow::From;

RoceFlow::Place place_of(const fabric::Segment& segment) {
  return {segment.handle, segment.offset};
}

/// This machine's address on the way to the peer, or all zeros; nothing is sent.
fabric::Address local_address_to(const fabric::Address& peer) {
  fabric::Address none;
  none.storage.ss_family = peer.storage.ss_family;
  none.length = peer.length;
  const UniqueFd socket(::socket(peer.storage.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket || ::connect(socket.get(), peer.get(), peer.length) != 0) return none;
  const fabric::Address local = net::local_address(socket.get());
  return local.length != 0 ? local : none;
}

/// The XID is the first word of every message of RPC-over-RDMA; 0 for what is too short.
std::uint32_t xid_of(std::span<const std::byte> message) {
  xdr::Decoder in(message);
  return in.u32("xid");
}

/// RDMA_MSG has the message type; a Long Reply is known by the Reply chunk that it returns.
bool is_reply(const rdma::Header& header, std::span<const std::byte> payload) {
  if (header.proc == rdma::RDMA_NOMSG) return header.chunks.has_reply;
  xdr::Decoder in(payload);
  in.u32("xid");
  constexpr std::uint32_t kReply = 1;
  return header.proc == rdma::RDMA_MSG && in.u32("message type") == kReply && in.ok();
}

}  // namespace

void RecordedEndpoint::connect(capture::Sink& sink, const fabric::Address& peer,
                               std::span<const std::byte> private_data) {
  sink_ = &sink;
  peer_ = peer;
  private_data_.assign(private_data.begin(), private_data.end());
}

void RecordedEndpoint::on_established(const fabric::ConnectionInfo& info) {
  flow_ = RoceFlow::open(*sink_, *local_address_to(peer_).get(), *peer_.get(), true);
  if (flow_) flow_->connected(private_data_, info.peer_private_data);
  handler_.on_established(info);
}

void RecordedEndpoint::note_leases(const fabric::SendWork& work) {
  for (fabric::Lease* lease : work.leases) {
    const Key key{lease->segment.handle, lease->segment.offset};
    bound_[key] = lease;
    if (lease->access == fabric::Access::remote_read) {
      reads_[xid_of(work.pieces.front())].push_back(key);
    }
  }
}

Result<void> RecordedEndpoint::post_send(const fabric::SendWork& work) {
  TRY(endpoint_->post_send(work));
  if (!flow_) return {};
  if (!work.pieces.empty()) note_leases(work);
  if (!work.comment.empty()) flow_->comment(std::string(work.comment));
  flow_->send(From::local, work.pieces, work.invalidate);
  return {};
}

bool RecordedEndpoint::invalidate(fabric::Lease& lease) {
  bound_.erase({lease.segment.handle, lease.segment.offset});
  return endpoint_->invalidate(lease);
}

Result<void> RecordedEndpoint::post_write(std::span<const std::span<const std::byte>> pieces,
                                          const fabric::Segment& to) {
  TRY(endpoint_->post_write(pieces, to));
  if (flow_) flow_->write(From::local, place_of(to), pieces);
  return {};
}

Result<void> RecordedEndpoint::post_read(std::span<std::byte> into, const fabric::Segment& from,
                                         void* context) {
  TRY(endpoint_->post_read(into, from, context));
  if (!flow_) return {};
  const std::uint32_t sequence = flow_->read_request(From::local, place_of(from), from.length);
  open_reads_.push_back({sequence, into.first(std::min<std::size_t>(into.size(), from.length))});
  return {};
}

/// They end in posting order.
void RecordedEndpoint::on_read_done(void* context) {
  if (flow_ && !open_reads_.empty()) {
    flow_->read_response(From::peer, open_reads_.front().sequence, open_reads_.front().into);
    open_reads_.pop_front();
  }
  handler_.on_read_done(context);
}

void RecordedEndpoint::record_reads(std::uint32_t xid) {
  const auto found = reads_.find(xid);
  if (found == reads_.end()) return;
  for (const Key& key : found->second) {
    const auto lease = bound_.find(key);
    if (lease == bound_.end()) continue;
    const fabric::Segment& segment = lease->second->segment;
    const auto data =
        std::span<const std::byte>(lease->second->memory)
            .first(std::min<std::size_t>(lease->second->memory.size(), segment.length));
    flow_->comment("not seen: read by the peer before it answered");
    const std::uint32_t sequence =
        flow_->read_request(From::peer, place_of(segment), static_cast<std::uint32_t>(data.size()));
    flow_->read_response(From::local, sequence, data);
  }
  reads_.erase(found);
}

/// As much as the reply says, and never more than was exposed.
void RecordedEndpoint::record_writes(const rdma::WriteChunk& chunk) {
  for (std::uint32_t i = 0; i < chunk.count; ++i) {
    const fabric::Segment& segment = chunk.target[i];
    const auto lease = bound_.find({segment.handle, segment.offset});
    const bool ours =
        lease != bound_.end() && lease->second->access == fabric::Access::remote_write;
    if (!ours || segment.length == 0) continue;
    const auto memory = std::span<const std::byte>(lease->second->memory);
    const std::span<const std::byte> pieces[] = {
        memory.first(std::min<std::size_t>(memory.size(), segment.length))};
    flow_->comment("not seen: written by the peer before it answered");
    flow_->write(From::peer, place_of(segment), pieces);
  }
}

void RecordedEndpoint::record_received(std::span<const std::byte> message,
                                       std::optional<std::uint32_t> invalidated) {
  rdma::Header header;
  xdr::Decoder in(message);
  const auto fault = rdma::decode_header(in, header, {rdma::kVersionOne, rdma::kVersionTwo});
  const bool known = fault == rdma::HeaderFault::none;
  if (known && is_reply(header, message.subspan(in.offset()))) {
    record_reads(header.rdma_xid);
    for (std::uint32_t i = 0; i < header.chunks.write_count; ++i) {
      record_writes(header.chunks.write_entries[i]);
    }
    if (header.chunks.has_reply) record_writes(header.chunks.rdma_reply);
  } else if (known && header.proc == rdma::RDMA_ERROR) {
    reads_.erase(header.rdma_xid);
  }
  if (invalidated) {
    flow_->comment(fmt::format("handle {:#010x} was invalidated by the peer", *invalidated));
  }
  const std::span<const std::byte> pieces[] = {message};
  flow_->send(From::peer, pieces, invalidated);
}

void RecordedEndpoint::on_receive(fabric::ReceiveBuffer& buffer, std::size_t length,
                                  std::optional<std::uint32_t> invalidated) {
  if (flow_) record_received(buffer.memory.first(length), invalidated);
  handler_.on_receive(buffer, length, invalidated);
}

void RecordedEndpoint::on_disconnected(const Error& reason) {
  flow_.reset();
  bound_.clear();
  handler_.on_disconnected(reason);
}

}  // namespace nfsrdma::recording
