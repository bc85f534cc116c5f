#include "tests/responder/transport/backward_calls.h"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace nfsrdma::responder {
namespace {

/// NFS4_CALLBACK (RFC 5662).
constexpr std::uint32_t kCallbackVersion = 1;

Error backward_error(int code, std::string detail) {
  return Error::local(code, "callback", std::move(detail));
}

}  // namespace

void BackwardCalls::Message::on_sent() {
  sent = true;
  owner.sweep();
}

std::size_t BackwardCalls::open() const {
  return static_cast<std::size_t>(std::count_if(
      messages_.begin(), messages_.end(), [](const auto& message) { return !!message->done; }));
}

Result<void> BackwardCalls::call(fabric::Endpoint& endpoint, std::uint32_t version,
                                 std::size_t largest, const CallbackTarget& target,
                                 const std::function<void(xdr::Encoder&)>& encode_arguments,
                                 BackwardDone done) {
  const auto most = std::min(credits_, core_.config.backward_credits);
  if (open() >= core_.faults.backward_credits().value_or(most)) {
    return fail(backward_error(EAGAIN, "the client's credits are used up"));
  }
  auto message = std::make_unique<Message>(*this);
  message->memory = core_.pools.messages->acquire();
  if (!message->memory) return fail(backward_error(ENOBUFS, "no message buffer left"));
  message->xid = ++last_xid_;
  const auto encoded = encode(*message, version, largest, target, encode_arguments);
  if (encoded.empty()) return fail(backward_error(EMSGSIZE, "does not fit an inline message"));
  message->done = std::move(done);
  fabric::SendWork work;
  const std::span<const std::byte> pieces[] = {encoded};
  work.pieces = pieces;
  work.context = static_cast<SendOwner*>(message.get());
  messages_.push_back(std::move(message));
  core_.counters.backward_calls.add();
  core_.counters.inline_sent_bytes.add(encoded.size());
  auto posted = endpoint.post_send(work);
  if (!posted) messages_.back()->done = nullptr;  // its memory stays lent until the connection ends
  return posted;
}

std::span<const std::byte> BackwardCalls::encode(
    Message& message, std::uint32_t version, std::size_t largest, const CallbackTarget& target,
    const std::function<void(xdr::Encoder&)>& encode_arguments) {
  xdr::Encoder out(message.memory.first(std::min(largest, message.memory.size())));
  rdma::Header header;
  header.rdma_xid = message.xid;
  header.rdma_vers = version;
  header.rdma_credit = core_.config.backward_credits;
  rdma::encode_header(out, header);
  rpc::encode_call_header(out, message.xid, target.program, kCallbackVersion, target.procedure,
                          target.credential, target.machine_name);
  encode_arguments(out);
  if (!out.ok() || !out.omitted().empty()) return {};
  return out.encoded().first(std::min(out.size(), target.cut));
}

BackwardCalls::Message* BackwardCalls::find_open(std::uint32_t xid) {
  for (auto& message : messages_) {
    if (message->done && message->xid == xid) return message.get();
  }
  return nullptr;
}

bool BackwardCalls::on_reply(const rdma::Header& header, std::span<const std::byte> stream) {
  Message* message = find_open(header.rdma_xid);
  // A message that names another XID than its header answers nothing (requirement F-8).
  if (!message || xdr::Decoder(stream).u32("xid") != header.rdma_xid) return false;
  credits_ = std::max(header.rdma_credit, 1U);
  core_.counters.backward_replies.add();
  xdr::Decoder in(stream);
  auto accepted = rpc::decode_reply_header(in, header.rdma_xid);
  finish(*message, accepted ? Result<xdr::Decoder>(in) : fail_from(accepted));
  return true;
}

bool BackwardCalls::on_error(const rdma::Header& header) {
  Message* message = find_open(header.rdma_xid);
  if (!message) return false;
  finish(*message, fail(backward_error(EPROTO, "the client answered RDMA_ERROR")));
  return true;
}

void BackwardCalls::finish(Message& message, Result<xdr::Decoder> result) {
  const BackwardDone done = std::exchange(message.done, nullptr);
  sweep();
  done(std::move(result));
}

void BackwardCalls::sweep() {
  std::erase_if(messages_, [](const auto& message) { return message->sent && !message->done; });
}

void BackwardCalls::on_connection_lost(const Error& reason) {
  for (auto& message : messages_) message->sent = true;
  while (!messages_.empty()) {
    auto& message = *messages_.back();
    if (message.done) {
      finish(message, fail(reason));
    } else {
      sweep();
    }
  }
}

}  // namespace nfsrdma::responder
