#include "tests/client/fake_channel.h"

#include <algorithm>
#include <utility>

#include "transport/fabric/fabric.h"

namespace nfsrdma::client::test {
namespace {

/// A reply's bytes; deletes itself when the last view is gone.
struct HeapMessage final : rpc::MessageBuffer {
  explicit HeapMessage(std::vector<std::byte> message) : bytes(std::move(message)) {}
  void release() override { delete this; }
  std::vector<std::byte> bytes;
};

}  // namespace

FakeChannel::FakeChannel(Reactor& reactor, FakeServer& server, rpc::ChannelObserver& observer,
                         int number)
    : reactor_(reactor), server_(server), observer_(observer), number_(number) {
  reactor_.post([this, alive = alive_] {
    if (*alive && !down_) observer_.on_channel_up();
  });
}

FakeChannel::~FakeChannel() {
  *alive_ = false;
  if (server_.channel_ == this) server_.channel_ = nullptr;
}

void FakeChannel::submit(rpc::Call& call) {
  if (server_.count_client) server_.count_client(false);
  open_.push_back(&call);
  if (!server_.sends_nothing) call.times.sent = reactor_.now();
  if (server_.sends_nothing) return;
  reactor_.post([this, alive = alive_, &call] {
    if (*alive && !down_ && std::ranges::find(open_, &call) != open_.end()) process(call);
  });
  if (server_.count_client) server_.count_client(true);
}

void FakeChannel::process(rpc::Call& call) {
  auto outcome = server_.receive(number_, call);
  const auto closing = [this](fabric::Fault fault) {
    close(Error{Layer::fabric, static_cast<int>(fault), "fake channel", {}});
  };
  switch (outcome.fate) {
    case Fate::answer: return finish(call, std::move(outcome.reply));
    case Fate::hold: held_.push_back({&call, std::move(outcome.reply)}); return;
    case Fate::disconnect_before:
    case Fate::disconnect_after: return closing(fabric::Fault::reset);
    case Fate::too_large: return closing(fabric::Fault::receive_too_small);
  }
}

void FakeChannel::release() {
  auto held = std::exchange(held_, {});
  for (auto& one : held) finish(*one.call, std::move(one.reply));
}

void FakeChannel::finish(rpc::Call& call, std::vector<std::byte> reply) {
  std::erase(open_, &call);
  call.times.replied = call.times.completed = reactor_.now();
  ++replies_;
  auto* message = new HeapMessage(std::move(reply));
  rpc::Reply accepted{rpc::MessageRef(message), std::nullopt, xdr::Decoder(message->bytes)};
  call.reply.emplace(std::move(accepted));
  if (server_.count_client) server_.count_client(true);
  call.observer->on_call_done(call);
  if (server_.count_client) server_.count_client(false);
}

void FakeChannel::close(Error reason) {
  if (down_) return;
  down_ = true;
  reason_ = std::move(reason);
  reactor_.post([this, alive = alive_] {
    if (*alive) go_down();
  });
}

void FakeChannel::go_down() {
  observer_.on_channel_closing(reason_);
  while (!open_.empty()) {
    rpc::Call* call = open_.front();
    open_.erase(open_.begin());
    ++call->losses.total;
    if (reason_.code == static_cast<int>(fabric::Fault::receive_too_small)) {
      ++call->losses.same_fault;
    }
    call->reply.emplace(nfsrdma::fail(Error{Layer::fabric, reason_.code, "fake channel", {}}));
    call->observer->on_call_done(*call);
  }
  observer_.on_channel_down(reason_);
}

}  // namespace nfsrdma::client::test
