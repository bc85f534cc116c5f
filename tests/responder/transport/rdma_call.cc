#include "tests/responder/transport/rdma_call.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "tests/responder/transport/rdma_connection.h"
#include "tests/responder/transport/rpc_rules.h"
#include "tests/support/rpc_message.h"

namespace nfsrdma::responder {
namespace {

bool starts_a_call(std::span<const std::byte> stream, std::uint32_t xid) {
  xdr::Decoder in(stream);
  const bool same_xid = in.u32("xid") == xid;
  const bool is_call = in.u32("msg_type") == static_cast<std::uint32_t>(rpc::MessageType::call);
  return in.ok() && same_xid && is_call;
}

}  // namespace

RdmaCall::RdmaCall(Core& core, Buffer reply_memory)
    : ServiceCall(core, std::move(reply_memory)), timer_(core.reactor, [this] {
        if (state_ == State::delayed) return execute();
        if (state_ == State::pulling) return connection_->disconnect("RDMA Reads get no answer");
        send_reply();
      }) {
  // A device sends and writes registered memory only.
  const auto zeros = reply_memory_.bytes().subspan(kHeaderRoom + kMaxReplyMessage, xdr::kUnit);
  std::ranges::fill(zeros, std::byte{});
  plan_.set_zeros(zeros);
}

void RdmaCall::begin(RdmaConnection& connection, Receive* receive) {
  assert(state_ == State::free && sends_pending_ == 0 && reads_pending_ == 0);
  connection_ = &connection;
  receive_ = receive;
  state_ = State::arrived;
  faults_ = CallFaults();
  operations_ = OperationList();
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

void RdmaCall::resume() {
  if (state_ == State::replying) return send_reply();
  pull();
}

/// For the faults of RDMA Reads, which come before the call is decoded. Those of a Long Call are
/// not known by then.
void RdmaCall::note_operations() {
  operations_ = OperationList();
  if (core_.faults.empty() || call_header_.proc == rdma::RDMA_NOMSG) return;
  xdr::Decoder in(stream_);
  const auto header = rpc::decode_call_header(in);
  if (header) operations_ = operations_of(*header, in);
}

void RdmaCall::pull() {
  if (reads_.total() == 0) return stream_complete();
  if (may_pull()) pulled_ = core_.pools.data->acquire();
  if (!pulled_) {
    core_.counters.waits_for_memory.add();
    return core_.hold_for_memory(*this);
  }
  state_ = State::pulling;
  core_.pull_began();
  connection_->pull_began();
  timer_.arm(core_.config.read_patience);
  if (!post_reads()) connection_->disconnect("RDMA Read could not be posted");
}

bool RdmaCall::may_pull() const { return core_.may_pull(connection_->pulls()); }

void RdmaCall::end_pull() {
  timer_.cancel();
  state_ = State::arrived;
  core_.pull_ended();
  connection_->pull_ended();
}

bool RdmaCall::post_reads() {
  note_operations();
  const PostingFor posting(core_.faults, operations_);
  const auto segments = call_header_.chunks.rdma_reads();
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const auto& from = segments[i].target;
    if (from.length == 0) continue;
    const auto into = pulled_.bytes().subspan(reads_.place_of(i), from.length);
    if (!connection_->endpoint().post_read(into, from, this)) return false;
    ++reads_pending_;
    core_.counters.rdma_read_bytes.add(from.length);
  }
  return true;
}

void RdmaCall::on_read_done() {
  if (--reads_pending_ > 0) return;
  end_pull();
  Core& core = core_;
  stream_complete();
  core.continue_waiting();
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
  if (const auto answer = answer_without_service(rpc_header_)) return reply(*answer);
  state_ = State::serving;
  core_.service.handle(*this);
}

}  // namespace nfsrdma::responder
