// The second half of a call's way: results, reply, and giving everything back.
#include <algorithm>
#include <cassert>

#include "tests/responder/transport/malformed_reply.h"
#include "tests/responder/transport/rdma_call.h"
#include "tests/responder/transport/rdma_connection.h"
#include "tests/responder/transport/rpc_rules.h"
#include "transport/base/log.h"

namespace nfsrdma::responder {
namespace {

Counter& counter_of(rdma::rpc_rdma_errcode error, Counters& counters) {
  switch (error) {
    case rdma::ERR_VERS: return counters.errors_version;
    case rdma::ERR_CHUNK: return counters.errors_chunk;
    case rdma::RDMA_ERR_INVAL_OPTION: break;
  }
  return counters.errors_option;
}

}  // namespace

void RdmaCall::refuse(rdma::rpc_rdma_errcode error) {
  state_ = State::replying;
  return_receive();
  counter_of(error, core_.counters).add();
  reply_header_.rdma_xid = call_header_.rdma_xid;
  reply_header_.rdma_vers = call_header_.rdma_vers;
  reply_header_.rdma_credit = connection_->grant();
  reply_header_.proc = rdma::RDMA_ERROR;
  reply_header_.error = {error, core_.config.versions.low, core_.config.versions.high};
  xdr::Encoder out(reply_memory_.first(kHeaderRoom));
  rdma::encode_header(out, reply_header_);
  send(out.encoded(), PieceList());
}

void RdmaCall::send_optional(std::uint32_t xid, const rdma::RdmaOptional& optional) {
  core_.counters.messages.options_sent[optional.rdma_opttype].add();
  reply_header_.rdma_xid = xid;
  reply_header_.rdma_vers = rdma::kVersionTwo;
  reply_header_.rdma_credit = connection_->grant();
  reply_header_.proc = rdma::RDMA_OPTIONAL;
  reply_header_.optional = optional;
  xdr::Encoder out(reply_memory_.first(kHeaderRoom));
  rdma::encode_header(out, reply_header_);
  send(out.encoded(), PieceList());
}

void RdmaCall::begin_results() {
  results_ = xdr::Encoder(reply_memory_.bytes().subspan(kHeaderRoom, kMaxReplyMessage));
  results_.keep_empty_items();
  rpc::encode_accepted_reply(results_, call_header_.rdma_xid, rpc::AcceptStat::success);
  results_begin_ = results_.size();
}

Connection& RdmaCall::connection() {
  assert(connection_ && "the service was told that the connection is closed");
  return *connection_;
}

std::size_t RdmaCall::max_reply() const {
  const auto& chunks = call_header_.chunks;
  if (!chunks.has_reply) {
    // The header of the reply has the Write list, as the client has counted.
    std::size_t header = rdma::kMinHeader;
    for (const auto& chunk : chunks.rdma_writes()) {
      header += rdma::kWriteChunkHead + chunk.segments().size() * rdma::kSegmentSize;
    }
    const std::size_t threshold = connection_->reply_threshold(call_header_.rdma_vers);
    return threshold - std::min(threshold, header);
  }
  std::size_t length = 0;
  for (const auto& segment : std::span(chunks.rdma_reply.target).first(chunks.rdma_reply.count)) {
    length += segment.length;
  }
  return std::min(length, kMaxReplyMessage);
}

void RdmaCall::drop() {
  core_.counters.calls_dropped.add();
  release();
}

void RdmaCall::abandon() { release(); }

void RdmaCall::reply(rpc::AcceptStat status) {
  if (!connection_) return drop();
  state_ = State::replying;
  finish_results(status);
  if (faults_.disconnect_after) return connection_->disconnect("fault script: before the reply");
  if (faults_.drop_reply) return drop();
  if (faults_.overtaken > 0) return core_.hold_until_overtaken(*this, faults_.overtaken);
  if (faults_.delay_reply == Duration::zero()) return send_reply();
  timer_.arm(faults_.delay_reply);
}

void RdmaCall::finish_results(rpc::AcceptStat status) {
  if (status == rpc::AcceptStat::success && !results_.ok()) {
    log::error("reply to XID {:#x} does not fit its buffer", xid());
    status = rpc::AcceptStat::system_err;
  }
  // When all arguments were read, one that came in a chunk and was not taken was not DDP-eligible
  // (V1-6.1-5). A replay, or an operation that failed earlier, leaves some unread.
  const bool all_read = arguments_.ok() && arguments_.remaining() == 0;
  if (status == rpc::AcceptStat::success && all_read &&
      arguments_.placed_taken() < reads_.items().size()) {
    status = rpc::AcceptStat::garbage_args;
  }
  if (status == rpc::AcceptStat::success) return spoil_results(results_begin_);
  if (status == rpc::AcceptStat::garbage_args) core_.counters.garbage_args.add();
  encode_failure(results_, xid(), status);
}

void RdmaCall::send_reply() {
  state_ = State::replying;
  const PostingFor posting(core_.faults, operations_);
  core_.reply_goes_out();
  return_receive();
  reply_header_.rdma_xid = call_header_.rdma_xid;
  reply_header_.rdma_vers = call_header_.rdma_vers;
  reply_header_.rdma_credit =
      faults_.grant ? connection_->announce(*faults_.grant) : connection_->grant();
  if (faults_.zero_grant) reply_header_.rdma_credit = 0;
  const ReplyTwist twist{faults_.malformed == Malformed::inline_result,
                         faults_.malformed == Malformed::write_pad};
  if (!plan_.make(results_, call_header_.chunks,
                  connection_->reply_threshold(call_header_.rdma_vers), twist, reply_header_)) {
    log::warning("reply to XID {:#x} fits neither inline nor into the Reply chunk", xid());
    return refuse(rdma::ERR_CHUNK);
  }
  if (!post_transfers()) return connection_->disconnect("RDMA Write could not be posted");
  if (reply_header_.proc == rdma::RDMA_NOMSG) core_.counters.long_replies.add();
  core_.counters.replies.add();
  connection_->note_reply(call_header_.rdma_vers);
  spoil_header(faults_.malformed, reply_header_);
  xdr::Encoder out(reply_memory_.first(kHeaderRoom));
  rdma::encode_header(out, reply_header_);
  std::span<const std::byte> header = out.encoded();
  PieceList message = plan_.inline_message();
  spoil_message(faults_.malformed, reply_memory_.first(kHeaderRoom), header, message);
  send(header, message);
}

bool RdmaCall::post_transfers() {
  for (const auto& transfer : plan_.transfers()) {
    if (!connection_->endpoint().post_write(transfer.from.pieces(), transfer.to)) return false;
    core_.counters.rdma_write_bytes.add(transfer.to.length);
  }
  if (!plan_.transfers().empty()) connection_->note_writes_for(xid());
  return true;
}

std::optional<std::uint32_t> RdmaCall::handle_to_invalidate() const {
  const bool is_reply =
      reply_header_.proc == rdma::RDMA_MSG || reply_header_.proc == rdma::RDMA_NOMSG;
  if (!is_reply || !connection_->remote_invalidation(call_header_.rdma_vers)) return std::nullopt;
  const auto& chunks = call_header_.chunks;
  if (chunks.read_count > 0) return chunks.read_entries[0].target.handle;
  for (const auto& chunk : chunks.rdma_writes()) {
    if (chunk.count > 0) return chunk.target[0].handle;
  }
  if (chunks.has_reply && chunks.rdma_reply.count > 0) return chunks.rdma_reply.target[0].handle;
  return std::nullopt;
}

void RdmaCall::send(std::span<const std::byte> header, const PieceList& message) {
  state_ = State::sending;
  PieceList all;
  all.add(header);
  for (const auto& piece : message.pieces()) all.add(piece);
  fabric::SendWork work;
  work.pieces = all.pieces();
  work.invalidate = handle_to_invalidate();
  work.context = static_cast<SendOwner*>(this);
  if (work.invalidate) core_.counters.remote_invalidations.add();
  core_.counters.inline_sent_bytes.add(all.size());
  core_.counters.messages.sent[reply_header_.proc].add();
  const unsigned copies = faults_.duplicate_reply ? 2 : 1;
  sends_pending_ = copies;
  for (unsigned i = 0; i < copies; ++i) {
    if (connection_->endpoint().post_send(work)) {
      work.invalidate.reset();
      continue;
    }
    return connection_->disconnect("reply could not be sent");  // V1-4.5.4-3
  }
}

void RdmaCall::on_sent() {
  if (--sends_pending_ == 0) release();
}

void RdmaCall::return_receive() {
  if (!receive_) return;
  connection_->repost(*receive_);
  receive_ = nullptr;
}

void RdmaCall::on_connection_lost(const std::shared_ptr<ReceiveSet>& receives) {
  unlink();
  core_.forget(*this);
  if (state_ == State::pulling) end_pull();
  timer_.cancel();
  reads_pending_ = 0;
  sends_pending_ = 0;
  connection_ = nullptr;
  if (state_ == State::serving) {
    orphaned_receives_ = receives;
    return;
  }
  if (state_ != State::sending) core_.counters.calls_dropped.add();
  receive_ = nullptr;
  release();
}

void RdmaCall::release() {
  timer_.cancel();
  if (connection_) return_receive();
  receive_ = nullptr;
  orphaned_receives_.reset();
  connection_ = nullptr;
  unlink();
  pulled_.reset();
  return_scratch();
  state_ = State::free;
  core_.release_call(*this);
}

}  // namespace nfsrdma::responder
