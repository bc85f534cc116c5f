#include "tests/client/program_channel.h"

#include <algorithm>
#include <utility>

namespace nfsrdma::client::test {
namespace {

/// A reply's bytes; deletes itself when the last view is gone.
struct HeapMessage final : rpc::MessageBuffer {
  explicit HeapMessage(std::vector<std::byte> message) : bytes(std::move(message)) {}
  void release() override { delete this; }
  std::vector<std::byte> bytes;
};

}  // namespace

ProgramChannel::ProgramChannel(Reactor& reactor, rpc::ChannelObserver& observer, bool comes_up)
    : reactor_(reactor), observer_(observer) {
  if (!comes_up) return;
  post([this] {
    if (!down_) observer_.on_channel_up();
  });
}

void ProgramChannel::post(std::function<void()> task) {
  reactor_.post([task = std::move(task), alive = alive_] {
    if (*alive) task();
  });
}

void ProgramChannel::submit(rpc::Call& call) {
  open_.push_back(&call);
  call.times.sent = reactor_.now();
  post([this, &call] {
    if (std::ranges::find(open_, &call) == open_.end()) return;
    if (down_) return lose(call);
    process(call);
  });
}

void ProgramChannel::answer_results(rpc::Call& call, Bytes results) {
  auto* message = new HeapMessage(std::move(results));
  answer(call, rpc::Reply{rpc::MessageRef(message), std::nullopt, xdr::Decoder(message->bytes)});
}

void ProgramChannel::answer_message(rpc::Call& call, Bytes bytes) {
  auto* message = new HeapMessage(std::move(bytes));
  rpc::Reply reply{rpc::MessageRef(message), std::nullopt, xdr::Decoder(message->bytes)};
  if (auto header = rpc::decode_reply_header(reply.results, call.xid); !header) {
    return answer(call, fail_from(header));
  }
  answer(call, std::move(reply));
}

void ProgramChannel::answer(rpc::Call& call, Result<rpc::Reply> reply) {
  if (std::erase(open_, &call) == 0) return;
  call.times.replied = call.times.completed = reactor_.now();
  ++replies_;
  call.reply.emplace(std::move(reply));
  end_call(call);
}

void ProgramChannel::break_off(fabric::Fault fault) {
  close(Error{Layer::fabric, static_cast<int>(fault), "channel of the test", {}});
}

void ProgramChannel::refuse(rpc::Call& call) {
  std::erase(open_, &call);
  const auto resources = static_cast<int>(fabric::Fault::resources);
  call.reply.emplace(nfsrdma::fail(Error{Layer::fabric, resources, "test", {}}));
  call.observer->on_call_done(call);
}

void ProgramChannel::lose(rpc::Call& call) {
  std::erase(open_, &call);
  ++call.losses.total;
  if (reason_.code == static_cast<int>(fabric::Fault::receive_too_small)) ++call.losses.same_fault;
  // Whatever the reason: a lost connection is one of the fabric to a call, which is sent again.
  call.reply.emplace(nfsrdma::fail(Error{Layer::fabric, reason_.code, "test", {}}));
  call.observer->on_call_done(call);
}

void ProgramChannel::close(Error reason) {
  if (std::exchange(down_, true)) return;
  reason_ = std::move(reason);
  on_closed();
  post([this] { go_down(); });
}

void ProgramChannel::go_down() {
  observer_.on_channel_closing(reason_);
  while (!open_.empty()) lose(*open_.front());
  observer_.on_channel_down(reason_);
}

}  // namespace nfsrdma::client::test
