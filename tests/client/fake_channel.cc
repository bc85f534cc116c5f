#include "tests/client/fake_channel.h"

#include <utility>

namespace nfsrdma::client::test {

FakeChannel::~FakeChannel() {
  if (server_.channel_ == this) server_.channel_ = nullptr;
}

void FakeChannel::submit(rpc::Call& call) {
  if (server_.count_client) server_.count_client(false);
  if (server_.sends_nothing) return keep(call);
  ProgramChannel::submit(call);
  if (server_.count_client) server_.count_client(true);
}

void FakeChannel::process(rpc::Call& call) {
  auto outcome = server_.receive(number_, call);
  switch (outcome.fate) {
    case Fate::answer: return answer_results(call, std::move(outcome.reply));
    case Fate::hold: held_.push_back({&call, std::move(outcome.reply)}); return;
    case Fate::refuse: return refuse(call);
    case Fate::disconnect_before:
    case Fate::disconnect_after: return break_off(fabric::Fault::reset);
    case Fate::too_large: return break_off(fabric::Fault::receive_too_small);
  }
}

void FakeChannel::release() {
  auto held = std::exchange(held_, {});
  for (auto& one : held) answer_results(*one.call, std::move(one.reply));
}

void FakeChannel::release_first() {
  if (held_.empty()) return;
  Held first = std::move(held_.front());
  held_.erase(held_.begin());
  answer_results(*first.call, std::move(first.reply));
}

void FakeChannel::end_call(rpc::Call& call) {
  if (server_.count_client) server_.count_client(true);
  ProgramChannel::end_call(call);
  if (server_.count_client) server_.count_client(false);
}

}  // namespace nfsrdma::client::test
