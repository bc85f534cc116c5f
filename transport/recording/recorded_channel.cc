#include "transport/recording/recorded_channel.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "transport/base/port.h"
#include "transport/recording/recorded_message.h"
#include "transport/rpc/message.h"

namespace nfsrdma::recording {
namespace {

/// Where dissectors look for NFS.
constexpr std::uint16_t kNfsPort = 2049;

const sockaddr& as_sockaddr(const sockaddr_storage& address) {
  return reinterpret_cast<const sockaddr&>(address);
}

void record_sent(capture::Flow& flow, const RecordedMessage& message) {
  flow.sent(message.pieces(), message.size());
}

void record_received(capture::Flow& flow, const RecordedMessage& message) {
  flow.received(message.pieces(), message.size());
}

}  // namespace

/// A callback on its way through: its answer is recorded, too. Ends with the answer, which may come
/// after the channel.
class RecordedChannel::Callback final : public rpc::BackwardCall {
 public:
  Callback(rpc::BackwardCall& call, std::shared_ptr<capture::Flow> flow)
      : call_(call), flow_(std::move(flow)) {}

  const rpc::CallHeader& header() const override { return call_.header(); }
  xdr::Decoder& arguments() override { return call_.arguments(); }
  xdr::Encoder& results() override { return call_.results(); }
  void answer(rpc::AcceptStat status) override {
    const std::unique_ptr<Callback> self(this);
    if (status == rpc::AcceptStat::success) {
      record_sent(*flow_, RecordedMessage(call_.results()));
    } else {
      std::array<std::byte, rpc::kAcceptedReplyHeader> memory;
      xdr::Encoder refusal(memory);
      rpc::encode_accepted_reply(refusal, call_.header().xid, status);
      record_sent(*flow_, RecordedMessage(refusal));
    }
    call_.answer(status);
  }

 private:
  rpc::BackwardCall& call_;
  const std::shared_ptr<capture::Flow> flow_;
};

Result<std::unique_ptr<rpc::Channel>> RecordedChannel::connect(rpc::ChannelFactory& channels,
                                                               capture::Sink& sink,
                                                               const net::Address& server,
                                                               rpc::ChannelObserver& observer,
                                                               CallerGone caller_gone) {
  std::unique_ptr<RecordedChannel> recorded(
      new RecordedChannel(sink, server, observer, std::move(caller_gone)));
  auto channel = channels.connect(*recorded);
  if (!channel) return fail_from(channel);
  recorded->channel_ = std::move(*channel);
  return std::unique_ptr<rpc::Channel>(std::move(recorded));
}

RecordedChannel::~RecordedChannel() = default;

void RecordedChannel::on_channel_up() {
  sockaddr_storage server = server_.storage;
  sockaddr_storage own{};  // the transport may have no port: each connection is shown with another
  own.ss_family = server.ss_family;
  set_port(server, kNfsPort);
  flow_ = sink_.open_flow(as_sockaddr(own), as_sockaddr(server), /*initiator=*/true,
                          capture::Carried::messages);
  observer_.on_channel_up();
}

void RecordedChannel::submit(rpc::Call& call) {
  if (flow_) {
    rpc::CallObserver* const own = this;
    open_[&call] = {std::exchange(call.observer, own), present_origin()};
    if (call.losses.total != 0) flow_->comment(std::string(rpc::kSentAgain));
    record_sent(*flow_, RecordedMessage(call.encoder));
  }
  channel_->submit(call);
}

void RecordedChannel::on_call_done(rpc::Call& call) {
  const auto found = open_.find(&call);
  const Open open = found->second;
  open_.erase(found);
  call.observer = open.observer;
  if (call.reply && *call.reply) {
    comment_reply(call, open.caller);
    record_received(*flow_, RecordedMessage((*call.reply)->results));
  }
  call.observer->on_call_done(call);
}

void RecordedChannel::comment_reply(const rpc::Call& call, Origin caller) {
  std::string text;
  if (call.invalidated) {
    text = fmt::format("handle {:#010x} was invalidated by the peer", *call.invalidated);
  }
  if (caller != kNoOrigin && caller_gone_ && caller_gone_(caller)) {
    text += fmt::format("{}answer to a caller that had gone (request {} of the kernel)",
                        text.empty() ? "" : "; ", caller);
  }
  if (!text.empty()) flow_->comment(std::move(text));
}

void RecordedChannel::on_backward_call(rpc::BackwardCall& call) {
  if (!flow_) return observer_.on_backward_call(call);
  record_received(*flow_, RecordedMessage(call.arguments()));
  observer_.on_backward_call(*new Callback(call, flow_));
}

void RecordedChannel::on_channel_down(const Error& reason) {
  flow_.reset();
  observer_.on_channel_down(reason);
}

}  // namespace nfsrdma::recording
