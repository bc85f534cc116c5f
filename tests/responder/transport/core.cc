#include "tests/responder/transport/core.h"

#include <algorithm>

#include "tests/responder/transport/rdma_call.h"

namespace nfsrdma::responder {
namespace {

std::size_t calls_of_a_connection() { return kMaxCredits + kSpareReceives; }

}  // namespace

Core::Core(Reactor& the_reactor, Service& the_service, const ResponderConfig& the_config)
    : reactor(the_reactor), service(the_service), config(the_config) {}

Core::~Core() = default;

Result<std::unique_ptr<Core>> Core::create(Reactor& reactor, Service& service,
                                           const ResponderConfig& config) {
  const auto calls = config.max_connections * calls_of_a_connection();
  const auto backward = config.max_connections * config.backward_credits * 2;  // call and reply
  auto messages = BufferPool::create(config.inline_size, calls + backward);
  auto replies = BufferPool::create(kHeaderRoom + kMaxReplyMessage, calls);
  auto data = BufferPool::create(config.max_payload + kLongCallRoom, kDataBuffers);
  if (!messages) return fail_from(messages);
  if (!replies) return fail_from(replies);
  if (!data) return fail_from(data);
  std::unique_ptr<Core> core(new Core(reactor, service, config));
  core->message_pool_ = std::move(*messages);
  core->reply_pool_ = std::move(*replies);
  core->data_pool_ = std::move(*data);
  return core;
}

std::uint32_t Core::credit_limit() const {
  return std::clamp(faults.credits().value_or(config.credits), 1U, kMaxCredits);
}

RdmaCall* Core::acquire_call() {
  if (free_calls_.empty()) {
    Buffer memory = reply_pool_->acquire();
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
  if (waiting_.empty() || data_pool_->available() == 0) return;
  RdmaCall* next = waiting_.front();
  waiting_.pop_front();
  next->pull();
}

void Core::resume() {
  stopped_ = false;
  std::deque<RdmaCall*> held;
  held.swap(held_);
  for (auto* call : held) call->pull();
}

void Core::forget(RdmaCall& call) {
  std::erase(held_, &call);
  std::erase(waiting_, &call);
}

}  // namespace nfsrdma::responder
