#include "tests/responder/transport/core.h"

#include <algorithm>

#include "tests/responder/transport/rdma_call.h"

namespace nfsrdma::responder {
namespace {

std::size_t calls_of_a_connection() { return kMaxCredits + kSpareReceives; }

}  // namespace

std::size_t receive_size(const ResponderConfig& config) {
  const std::size_t size = std::max(config.inline_size, config.call_size);
  if (!config.versions.has(rdma::kVersionTwo)) return size;
  return std::max<std::size_t>(size, rdma::kMinReceiveBufferSize);
}

std::size_t largest_receive(const ResponderConfig& config) {
  return std::max(receive_size(config), config.most_inline_size);
}

Result<ResponderPools> ResponderPools::create(const ResponderConfig& config) {
  const auto calls = config.max_connections * calls_of_a_connection();
  const auto backward = config.max_connections * config.backward_credits * 2;  // call and reply
  auto messages = BufferPool::create(largest_receive(config), calls + backward);
  auto replies = BufferPool::create(kHeaderRoom + kMaxReplyMessage + xdr::kUnit, calls);
  auto data = BufferPool::create(config.max_payload + kLongCallRoom, config.data_buffers);
  if (!messages) return fail_from(messages);
  if (!replies) return fail_from(replies);
  if (!data) return fail_from(data);
  return ResponderPools{std::move(*messages), std::move(*replies), std::move(*data)};
}

Core::Core(Reactor& the_reactor, Service& the_service, const ResponderConfig& the_config,
           ResponderPools& the_pools)
    : reactor(the_reactor),
      service(the_service),
      config(the_config),
      pools(the_pools),
      overtaken_turn_(the_reactor, [this] { let_overtaken_go(); }) {
  if (config.reorder) reorder.emplace(*config.reorder);
}

Core::~Core() = default;

std::uint32_t Core::credit_limit() const {
  return std::clamp(faults.credits().value_or(config.credits), 1U, kMaxCredits);
}

RdmaCall* Core::acquire_call() {
  if (free_calls_.empty()) {
    Buffer memory = pools.replies->acquire();
    if (!memory) return nullptr;
    calls_.push_back(std::make_unique<RdmaCall>(*this, std::move(memory)));
    free_calls_.push_back(calls_.back().get());
  }
  RdmaCall* call = free_calls_.back();
  free_calls_.pop_back();
  return call;
}

void Core::release_call(RdmaCall& call) {
  free_calls_.push_back(&call);
  continue_waiting();
}

void Core::continue_waiting() {
  while (pools.data->available() > 0) {
    const auto next =
        std::ranges::find_if(waiting_, [](const RdmaCall* call) { return call->may_pull(); });
    if (next == waiting_.end()) return;
    RdmaCall* call = *next;
    waiting_.erase(next);
    call->pull();
  }
}

void Core::resume() {
  stopped_ = false;
  std::deque<HeldCall*> held;
  held.swap(held_);
  for (auto* call : held) call->resume();
}

void Core::forget(RdmaCall& call) {
  forget_held(call);
  std::erase(waiting_, &call);
}

void Core::forget_held(HeldCall& call) {
  std::erase(held_, &call);
  std::erase_if(overtaken_, [&call](const Overtaken& each) { return each.call == &call; });
}

void Core::reply_goes_out() {
  bool due = false;
  for (Overtaken& each : overtaken_) due |= each.replies == 0 || --each.replies == 0;
  if (due) overtaken_turn_.schedule();
}

void Core::let_overtaken_go() {
  for (;;) {
    const auto next = std::ranges::find(overtaken_, 0U, &Overtaken::replies);
    if (next == overtaken_.end()) return;
    HeldCall* call = next->call;
    overtaken_.erase(next);
    call->resume();
  }
}

}  // namespace nfsrdma::responder
