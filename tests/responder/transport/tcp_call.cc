#include "tests/responder/transport/tcp_call.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "tests/responder/transport/rpc_rules.h"
#include "tests/responder/transport/tcp_connection.h"
#include "tests/support/rpc_message.h"
#include "transport/base/log.h"

namespace nfsrdma::responder {
namespace {

constexpr std::size_t kXidBytes = 4;
constexpr std::size_t kReplyStatAt = 8;
/// Longer than any record of a sane peer.
constexpr std::uint32_t kAbsurdLength = 0x7fffffff;

void append(std::vector<std::byte>& to, std::span<const std::byte> bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}

void append_mark(std::vector<std::byte>& to, std::size_t length, bool last) {
  append(to, record_mark(static_cast<std::uint32_t>(length), last));
}

/// A record in fragments of `longest` bytes with an empty fragment behind the first.
std::vector<std::byte> in_fragments(std::span<const std::byte> message, std::size_t longest) {
  std::vector<std::byte> record;
  for (std::size_t at = 0; at < message.size(); at += longest) {
    const auto part = message.subspan(at, std::min(longest, message.size() - at));
    append_mark(record, part.size(), at + part.size() == message.size());
    append(record, part);
    if (at == 0 && part.size() < message.size()) append_mark(record, 0, false);
  }
  return record;
}

}  // namespace

TcpCall::TcpCall(Core& core, TcpCalls& pool, Buffer reply_memory)
    : ServiceCall(core, std::move(reply_memory)), pool_(pool), timer_(core.reactor, [this] {
        if (state_ == State::delayed) return execute();
        send_reply();
      }) {}

void TcpCall::begin(TcpConnection& connection, Buffer record, std::size_t length) {
  assert(state_ == State::free && sends_pending_ == 0);
  connection_ = &connection;
  record_ = std::move(record);
  faults_ = CallFaults();
  operations_ = OperationList();
  arguments_ = xdr::Decoder(record_.first(length));
  xid_ = xdr::Decoder(record_.first(kXidBytes)).u32("xid");
  results_ = xdr::Encoder(reply_memory_.first(kMaxReplyMessage));
  rpc::encode_accepted_reply(results_, xid_, rpc::AcceptStat::success);
  results_begin_ = results_.size();
  state_ = State::held;
  if (core_.stopped()) return core_.hold_until_resumed(*this);
  resume();
}

void TcpCall::resume() {
  if (state_ == State::replying) return send_reply();
  core_.counters.calls.add();
  state_ = State::replying;
  auto header = rpc::decode_call_header(arguments_);
  if (!header) return refuse_header(header.error());
  rpc_header_ = *header;
  decide_faults();
  if (faults_.delay == Duration::zero()) return execute();
  state_ = State::delayed;
  timer_.arm(faults_.delay);
}

void TcpCall::refuse_header(const Error& error) {
  if (!error.is(Layer::rpc, static_cast<int>(rpc::Fault::rpc_mismatch))) {
    return reply(rpc::AcceptStat::garbage_args);
  }
  results_.rewind(0);
  rpc::encode_rpc_mismatch(results_, xid_);
  send_reply();
}

void TcpCall::execute() {
  state_ = State::replying;
  if (faults_.disconnect_before) return connection_->disconnect("fault script: before execution");
  if (faults_.rpc_error) return reply(*faults_.rpc_error);
  if (faults_.auth_error || !credential_acceptable(rpc_header_)) {
    results_.rewind(0);
    rpc::encode_auth_error(results_, xid_, kAuthBadCredential);
    return send_reply();
  }
  if (const auto answer = answer_without_service(rpc_header_)) return reply(*answer);
  state_ = State::serving;
  core_.service.handle(*this);
}

Connection& TcpCall::connection() {
  assert(connection_ && "the service was told that the connection is closed");
  return *connection_;
}

std::size_t TcpCall::max_reply() const { return kMaxReplyMessage; }

void TcpCall::drop() {
  core_.counters.calls_dropped.add();
  release();
}

void TcpCall::reply(rpc::AcceptStat status) {
  if (!connection_) return drop();
  state_ = State::replying;
  if (status == rpc::AcceptStat::success && !results_.ok()) {
    log::error("reply to XID {:#x} does not fit its buffer", xid_);
    status = rpc::AcceptStat::system_err;
  }
  if (status == rpc::AcceptStat::garbage_args) core_.counters.garbage_args.add();
  if (status == rpc::AcceptStat::success) {
    spoil_results(results_begin_);
  } else {
    encode_failure(results_, xid_, status);
  }
  if (faults_.disconnect_after) return connection_->disconnect("fault script: before the reply");
  if (faults_.drop_reply) return drop();
  if (faults_.overtaken > 0) return core_.hold_until_overtaken(*this, faults_.overtaken);
  if (faults_.delay_reply == Duration::zero()) return send_reply();
  timer_.arm(faults_.delay_reply);
}

void TcpCall::send_reply() {
  state_ = State::sending;
  core_.reply_goes_out();
  core_.counters.replies.add();
  if (faults_.malformed != Malformed::none || faults_.fragment_bytes > 0) return send_spoiled();
  const unsigned copies = faults_.duplicate_reply ? 2 : 1;
  sends_pending_ = copies;
  for (unsigned i = 0; i < copies && connection_; ++i) connection_->send(results_, *this);
}

std::vector<std::byte> TcpCall::flatten() const {
  std::vector<std::byte> message;
  std::size_t done = 0;
  for (const auto& item : results_.omitted()) {
    append(message, results_.encoded().subspan(done, item.offset - done));
    append(message, item.data);
    message.resize(xdr::padded(message.size()));
    done = item.offset;
  }
  append(message, results_.encoded().subspan(done));
  return message;
}

void TcpCall::send_spoiled() {
  std::vector<std::byte> message = flatten();
  std::vector<std::byte> record;
  const Malformed kind = faults_.malformed;
  if (kind == Malformed::wrong_xid) message[0] ^= std::byte{0x80};
  if (kind == Malformed::rpc) message[kReplyStatAt] = std::byte{0x7f};
  if (kind == Malformed::results) message.resize(message.size() - xdr::kUnit);
  if (kind == Malformed::oversize) {
    append_mark(record, kAbsurdLength, true);
    append(record, message);
  } else if (kind == Malformed::truncated) {
    append_mark(record, message.size(), true);
    append(record, std::span(message).first(message.size() / 2));
  } else {
    const std::size_t longest = faults_.fragment_bytes;
    record = in_fragments(message, longest > 0 ? longest : message.size());
  }
  TcpConnection& connection = *connection_;
  connection.send_bytes(std::move(record));
  release();
  if (kind == Malformed::truncated) connection.disconnect("fault script: in the middle of a reply");
}

void TcpCall::on_sent() {
  if (--sends_pending_ == 0) release();
}

void TcpCall::on_connection_lost() {
  unlink();
  core_.forget_held(*this);
  timer_.cancel();
  sends_pending_ = 0;
  connection_ = nullptr;
  if (state_ == State::serving) return;
  if (state_ != State::sending) core_.counters.calls_dropped.add();
  release();
}

void TcpCall::release() {
  timer_.cancel();
  connection_ = nullptr;
  unlink();
  record_.reset();
  return_scratch();
  state_ = State::free;
  pool_.release(*this);
}

TcpCall* TcpCalls::acquire() {
  if (free_.empty()) {
    Buffer memory = core_.pools.replies->acquire();
    if (!memory) return nullptr;
    calls_.push_back(std::make_unique<TcpCall>(core_, *this, std::move(memory)));
    free_.push_back(calls_.back().get());
  }
  TcpCall* call = free_.back();
  free_.pop_back();
  return call;
}

}  // namespace nfsrdma::responder
