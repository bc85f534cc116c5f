#include "transport/journal/journaled_channel.h"

#include <algorithm>
#include <array>
#include <utility>

namespace nfsrdma::journal {

/// A callback on its way through. Ends with the answer, which may come after the channel.
class JournaledChannel::Callback final : public rpc::BackwardCall {
 public:
  Callback(rpc::BackwardCall& call, Recorder& recorder, Place place)
      : call_(call), recorder_(recorder), place_(place) {}

  const rpc::CallHeader& header() const override { return call_.header(); }
  xdr::Decoder& arguments() override { return call_.arguments(); }
  xdr::Encoder& results() override { return call_.results(); }
  void answer(rpc::AcceptStat status) override {
    const std::unique_ptr<Callback> self(this);
    recorder_.give(Kind::callback_answer, callback_answer_body(place_, status, call_.results()));
    call_.answer(status);
  }

 private:
  rpc::BackwardCall& call_;
  Recorder& recorder_;
  const Place place_;
};

Result<std::unique_ptr<rpc::Channel>> JournaledChannel::connect(rpc::ChannelFactory& channels,
                                                                JournaledReactor& reactor,
                                                                std::uint32_t connection,
                                                                rpc::ChannelObserver& observer) {
  std::unique_ptr<JournaledChannel> made(new JournaledChannel(reactor, connection, observer));
  auto channel = channels.connect(*made);
  if (!channel) return fail_from(channel);
  made->channel_ = std::move(*channel);
  return std::unique_ptr<rpc::Channel>(std::move(made));
}

/// What it has posted on the outer loop has to run first.
JournaledChannel::~JournaledChannel() {
  if (channel_) reactor_.outside().dispose(std::move(channel_));
}

void JournaledChannel::submit(rpc::Call& call) {
  rpc::CallObserver* const own = this;
  open_[&call] = {++calls_, std::exchange(call.observer, own)};
  reactor_.recorder().give(Kind::call, call_body({connection_, calls_}, call));
  channel_->submit(call);
}

std::size_t JournaledChannel::max_inline_reply() const {
  return reactor_.seen("room of a reply", channel_->max_inline_reply());
}

std::uint64_t JournaledChannel::replies() const {
  return reactor_.seen("replies so far", channel_->replies());
}

std::size_t JournaledChannel::open_calls() const {
  return reactor_.seen("open calls", channel_->open_calls());
}

std::size_t JournaledChannel::calls_in_flight() const {
  return reactor_.seen("calls in flight", channel_->calls_in_flight());
}

void JournaledChannel::close(Error reason) {
  reactor_.recorder().give(Kind::close, Body().u32(connection_));
  channel_->close(std::move(reason));
}

void JournaledChannel::on_channel_up() {
  const Input input(reactor_, Kind::channel_up, channel_up_body(connection_, channel_->limits()));
  observer_.on_channel_up();
}

void JournaledChannel::on_channel_closing(const Error& reason) {
  const Input input(reactor_, Kind::channel_closing, channel_error_body(connection_, reason));
  observer_.on_channel_closing(reason);
}

void JournaledChannel::on_call_done(rpc::Call& call) {
  const auto open = open_.extract(&call);
  const Input input(reactor_, Kind::call_done,
                    call_done_body({connection_, open.mapped().number}, call));
  call.observer = open.mapped().observer;
  call.observer->on_call_done(call);
}

void JournaledChannel::on_backward_call(rpc::BackwardCall& call) {
  const Place place{connection_, ++callbacks_};
  const Input input(reactor_, Kind::callback, callback_body(place, call));
  observer_.on_backward_call(*new Callback(call, reactor_.recorder(), place));
}

void JournaledChannel::on_channel_down(const Error& reason) {
  const Input input(reactor_, Kind::channel_down, channel_error_body(connection_, reason));
  observer_.on_channel_down(reason);
}

Result<std::unique_ptr<rpc::Channel>> JournaledFactory::connect(rpc::ChannelObserver& observer) {
  const std::uint32_t connection = ++connections_;
  reactor_.recorder().give(Kind::connect, Body().u32(connection));
  auto made = JournaledChannel::connect(*channels_, reactor_, connection, observer);
  const bool refused = reactor_.seen("an attempt to connect is refused at once", !made);
  if (refused) {
    const Body error = channel_error_body(connection, made.error());
    std::array<std::byte, Reactor::kLongestText> memory{};
    const std::size_t size = std::min(memory.size(), error.bytes().size());
    std::copy_n(error.bytes().begin(), size, memory.begin());
    reactor_.from_outside("why", memory, size);
  }
  return made;
}

}  // namespace nfsrdma::journal
