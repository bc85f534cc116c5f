#include "tests/responder/transport/rdma_call.h"

#include <cassert>
#include <utility>

#include "tests/responder/transport/malformed_reply.h"
#include "tests/responder/transport/rdma_connection.h"
#include "transport/base/log.h"

namespace nfsrdma::responder {
namespace {

constexpr std::uint32_t kNullProcedureNumber = 0;
constexpr std::uint32_t kCompoundProcedure = 1;
/// auth_stat AUTH_BADCRED (RFC 5531 section 9).
constexpr std::uint32_t kAuthBadCredential = 1;

bool starts_a_call(std::span<const std::byte> stream, std::uint32_t xid) {
  xdr::Decoder in(stream);
  const bool same_xid = in.u32("xid") == xid;
  const bool is_call = in.u32("msg_type") == static_cast<std::uint32_t>(rpc::MessageType::call);
  return in.ok() && same_xid && is_call;
}

bool credential_acceptable(const rpc::CallHeader& header) {
  if (header.raw_flavor == rpc::AuthFlavor::none) return true;
  return header.raw_flavor == rpc::AuthFlavor::sys &&
         header.credential.flavor == rpc::AuthFlavor::sys;
}

}  // namespace

RdmaCall::RdmaCall(Core& core, Buffer reply_memory)
    : core_(core), reply_memory_(std::move(reply_memory)), timer_(core.reactor, [this] {
        if (state_ == State::delayed) return execute();
        send_reply();
      }) {}

void RdmaCall::begin(RdmaConnection& connection, Receive& receive) {
  assert(state_ == State::free && sends_pending_ == 0 && reads_pending_ == 0);
  connection_ = &connection;
  receive_ = &receive;
  state_ = State::arrived;
  faults_ = CallFaults();
}

void RdmaCall::refuse(rdma::rpc_rdma_errcode error) {
  state_ = State::replying;
  return_receive();
  (error == rdma::ERR_VERS ? core_.counters.errors_version : core_.counters.errors_chunk).add();
  reply_header_.rdma_xid = call_header_.rdma_xid;
  reply_header_.rdma_vers = call_header_.rdma_vers;
  reply_header_.rdma_credit = connection_->grant();
  reply_header_.proc = rdma::RDMA_ERROR;
  reply_header_.error = {error, rdma::kVersionOne, rdma::kVersionOne};
  xdr::Encoder out(reply_memory_.first(kHeaderRoom));
  rdma::encode_header(out, reply_header_);
  send(out.encoded(), PieceList());
}

void RdmaCall::accept(std::span<const std::byte> stream) {
  const bool long_call = call_header_.proc == rdma::RDMA_NOMSG;
  stream_ = stream;
  const ReadLimits limits{core_.config.max_payload + kLongCallRoom, core_.pools.data->slot_size()};
  if (!reads_.lay_out(call_header_.chunks.rdma_reads(), limits) ||
      reads_.has_position_zero() != long_call ||
      (!long_call && !starts_a_call(stream_, call_header_.rdma_xid))) {
    return refuse(rdma::ERR_CHUNK);
  }
  if (core_.failed_calls.blamed(connection_->client(), call_header_.rdma_xid)) {
    core_.counters.repeated_failures.add();
    return refuse(rdma::ERR_CHUNK);
  }
  if (core_.stopped()) return core_.hold_until_resumed(*this);
  pull();
}

void RdmaCall::pull() {
  if (reads_.total() == 0) return stream_complete();
  pulled_ = core_.pools.data->acquire();
  if (!pulled_) {
    core_.counters.waits_for_memory.add();
    return core_.hold_for_memory(*this);
  }
  state_ = State::pulling;
  if (!post_reads()) connection_->disconnect("RDMA Read could not be posted");
}

bool RdmaCall::post_reads() {
  const auto segments = call_header_.chunks.rdma_reads();
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const auto& from = segments[i].target;
    if (from.length == 0) continue;
    const auto into = pulled_.bytes().subspan(reads_.place_of(i), from.length);
    if (!connection_->endpoint().post_read(into, from, this)) return false;
    ++reads_pending_;
    core_.counters.rdma_read_octets.add(from.length);
  }
  return true;
}

void RdmaCall::on_read_done() {
  if (--reads_pending_ == 0) stream_complete();
}

void RdmaCall::stream_complete() {
  state_ = State::arrived;
  core_.counters.calls.add();
  if (call_header_.proc == rdma::RDMA_NOMSG) {
    core_.counters.long_calls.add();
    stream_ = reads_.total() == 0 ? stream_.first(0) : reads_.long_call(pulled_.bytes());
    if (!starts_a_call(stream_, call_header_.rdma_xid)) return refuse(rdma::ERR_CHUNK);
  }
  begin_results();
  const bool placed = reads_.place_items(pulled_.bytes(), stream_.size());
  arguments_ = xdr::Decoder(stream_);
  arguments_.place_at_offsets(reads_.items());
  if (!placed) return reply(rpc::AcceptStat::garbage_args);
  decode_rpc_header();
}

void RdmaCall::decode_rpc_header() {
  auto header = rpc::decode_call_header(arguments_);
  if (!header) {
    const auto mismatch = static_cast<int>(rpc::Fault::rpc_mismatch);
    if (!header.error().is(Layer::rpc, mismatch)) return reply(rpc::AcceptStat::garbage_args);
    results_.rewind(0);
    rpc::encode_rpc_mismatch(results_, call_header_.rdma_xid);
    return send_reply();
  }
  rpc_header_ = *header;
  decide_faults();
  if (faults_.delay == Duration::zero()) return execute();
  state_ = State::delayed;
  timer_.arm(faults_.delay);
}

void RdmaCall::decide_faults() {
  OperationList operations;
  if (rpc_header_.procedure == kCompoundProcedure) operations = list_operations(arguments_);
  for (const auto number : operations.numbers()) core_.counters.operations[number].add();
  if (!core_.faults.empty()) faults_ = core_.faults.decide(operations);
}

void RdmaCall::execute() {
  state_ = State::replying;
  if (faults_.disconnect_before) return connection_->disconnect("fault script: before execution");
  if (faults_.rdma_error) return refuse(*faults_.rdma_error);
  if (faults_.rpc_error) return reply(*faults_.rpc_error);
  if (faults_.auth_error || !credential_acceptable(rpc_header_)) {
    results_.rewind(0);
    rpc::encode_auth_error(results_, call_header_.rdma_xid, kAuthBadCredential);
    return send_reply();
  }
  dispatch();
}

void RdmaCall::dispatch() {
  if (rpc_header_.program != rpc::kNfsProgram) return reply(rpc::AcceptStat::prog_unavail);
  if (rpc_header_.version != rpc::kNfsVersion4) return reply(rpc::AcceptStat::prog_mismatch);
  if (rpc_header_.procedure == kNullProcedureNumber) return reply(rpc::AcceptStat::success);
  if (rpc_header_.procedure != kCompoundProcedure) return reply(rpc::AcceptStat::proc_unavail);
  state_ = State::serving;
  core_.service.handle(*this);
}

void RdmaCall::begin_results() {
  results_ = xdr::Encoder(reply_memory_.bytes().subspan(kHeaderRoom, kMaxReplyMessage));
  results_.keep_empty_items();
  rpc::encode_accepted_reply(results_, call_header_.rdma_xid, rpc::AcceptStat::success);
}

std::span<std::byte> RdmaCall::scratch(std::size_t size) {
  for (auto& buffer : scratch_) {
    if (buffer) continue;
    if (size > core_.pools.data->slot_size()) return {};
    buffer = core_.pools.data->acquire();
    return buffer ? buffer.first(size) : std::span<std::byte>();
  }
  return {};
}

Connection& RdmaCall::connection() {
  assert(connection_ && "the service was told that the connection is closed");
  return *connection_;
}

std::optional<std::uint32_t> RdmaCall::forced_status(std::uint32_t operation) const {
  return operation == faults_.nfs_operation ? faults_.nfs_status : std::nullopt;
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
  if (faults_.delay_reply == Duration::zero()) return send_reply();
  timer_.arm(faults_.delay_reply);
}

void RdmaCall::finish_results(rpc::AcceptStat status) {
  if (status == rpc::AcceptStat::success && !results_.ok()) {
    log::error("reply to XID {:#x} does not fit its buffer", xid());
    status = rpc::AcceptStat::system_err;
  }
  // An argument that came in a chunk and that nobody took was not DDP-eligible (V1-6.1-5).
  if (status == rpc::AcceptStat::success && arguments_.placed_taken() < reads_.items().size()) {
    status = rpc::AcceptStat::garbage_args;
  }
  if (status == rpc::AcceptStat::success) return;
  if (status == rpc::AcceptStat::garbage_args) core_.counters.garbage_args.add();
  results_.rewind(0);
  if (status == rpc::AcceptStat::prog_mismatch) {
    rpc::encode_prog_mismatch(results_, xid(), rpc::kNfsVersion4, rpc::kNfsVersion4);
  } else {
    rpc::encode_accepted_reply(results_, xid(), status);
  }
}

void RdmaCall::send_reply() {
  state_ = State::replying;
  return_receive();
  reply_header_.rdma_xid = call_header_.rdma_xid;
  reply_header_.rdma_vers = call_header_.rdma_vers;
  reply_header_.rdma_credit = faults_.zero_grant ? 0 : connection_->grant();
  const ReplyTwist twist{faults_.malformed == Malformed::inline_result,
                         faults_.malformed == Malformed::write_pad};
  if (!plan_.make(results_, call_header_.chunks, connection_->thresholds().reply, twist,
                  reply_header_)) {
    log::warning("reply to XID {:#x} fits neither inline nor into the Reply chunk", xid());
    return refuse(rdma::ERR_CHUNK);
  }
  if (!post_transfers()) return connection_->disconnect("RDMA Write could not be posted");
  if (reply_header_.proc == rdma::RDMA_NOMSG) core_.counters.long_replies.add();
  core_.counters.replies.add();
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
    core_.counters.rdma_write_octets.add(transfer.to.length);
  }
  if (!plan_.transfers().empty()) connection_->note_writes_for(xid());
  return true;
}

std::optional<std::uint32_t> RdmaCall::handle_to_invalidate() const {
  if (!connection_->thresholds().remote_invalidation) return std::nullopt;
  if (reply_header_.proc == rdma::RDMA_ERROR) return std::nullopt;
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
  core_.counters.inline_sent_octets.add(all.size());
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
  for (auto& buffer : scratch_) buffer.reset();
  state_ = State::free;
  core_.release_call(*this);
}

}  // namespace nfsrdma::responder
