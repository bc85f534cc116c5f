#include "tests/transport/rdma/fake_fabric.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace nfsrdma::test {
namespace {

constexpr std::uint32_t kHandlesPerConnection = 0x10000;
/// Fills the memory of a posted receive: a read of it too early or too late is noticed.
constexpr int kPoison = 0xEE;

Error fabric_error(fabric::Fault fault) {
  return Error{Layer::fabric, static_cast<int>(fault), "fake provider", {}};
}

void require(bool condition, const char* what) {
  if (!condition) ADD_FAILURE() << what;
}

}  // namespace

FakeEndpoint::FakeEndpoint(FakeFabric& fabric, fabric::EndpointHandler& handler, Bytes private_data,
                           std::uint32_t handle_base)
    : fabric_(fabric),
      handler_(handler),
      private_data_(std::move(private_data)),
      next_handle_(handle_base) {}

FakeEndpoint::~FakeEndpoint() {
  *alive_ = false;
  if (fabric_.newest_ == this) fabric_.newest_ = nullptr;
}

template <class Work>
void FakeEndpoint::later(Work work) {
  fabric_.reactor_.post([alive = alive_, work = std::move(work)]() mutable {
    if (*alive) work();
  });
}

void FakeEndpoint::establish(Bytes private_data) {
  later([this, data = std::move(private_data)] {
    if (down_) return;
    handler_.on_established(
        {.peer_private_data = data, .ord = 0, .ird = 0, .description = "fake provider"});
  });
}

void FakeEndpoint::deliver(Bytes message, std::optional<std::uint32_t> invalidated) {
  later([this, message = std::move(message), invalidated] {
    if (down_) return;
    if (receives_.empty() || receives_.front()->memory.size() < message.size()) {
      go_down(fabric_error(fabric::Fault::receive_too_small));
      return;
    }
    fabric::ReceiveBuffer& buffer = *receives_.front();
    receives_.pop_front();
    buffer.posted = false;
    std::copy(message.begin(), message.end(), buffer.memory.begin());
    if (invalidated) invalidated_.insert(*invalidated);
    handler_.on_receive(buffer, message.size(), invalidated);
  });
}

void FakeEndpoint::complete_send(std::size_t index) {
  later([this, index] {
    if (!down_) finish_send(sent_[index]);
  });
}

void FakeEndpoint::finish_send(SentMessage& message) {
  require(!message.done, "a Send completes once");
  message.done = true;
  Bytes now;
  for (auto piece : message.pieces) now.insert(now.end(), piece.begin(), piece.end());
  if (now != message.bytes) ++corrupted_sends_;
  handler_.on_send_done(message.context);
}

void FakeEndpoint::complete_invalidation(std::size_t index) {
  later([this, index] {
    if (down_ || index >= invalidating_.size()) return;
    fabric::Lease* lease = invalidating_[index];
    invalidating_.erase(invalidating_.begin() + static_cast<std::ptrdiff_t>(index));
    free_lease(*lease);
    handler_.on_invalidated(*lease);
  });
}

void FakeEndpoint::lose(fabric::Fault fault) {
  later([this, fault] { go_down(fabric_error(fault)); });
}

void FakeEndpoint::take_receive() {
  receives_.front()->posted = false;
  receives_.pop_front();
}

void FakeEndpoint::go_down(const Error& reason) {
  if (down_) return;
  down_ = true;
  while (!leases_.empty()) free_lease(*leases_.begin()->second);
  for (auto* lease : invalidating_) free_lease(*lease);
  invalidating_.clear();
  for (auto* buffer : receives_) buffer->posted = false;
  receives_.clear();
  handler_.on_disconnected(reason_ ? *reason_ : reason);
}

const fabric::Lease* FakeEndpoint::find(std::uint32_t handle) const {
  const auto found = leases_.find(handle);
  if (found == leases_.end() || invalidated_.contains(handle)) return nullptr;
  return found->second;
}

bool FakeEndpoint::reachable(std::uint32_t handle) const {
  const auto* lease = find(handle);
  return lease && lease->state == fabric::LeaseState::bound;
}

bool FakeEndpoint::remote_write(const fabric::Segment& to, std::span<const std::byte> data) {
  const auto* lease = find(to.handle);
  if (!lease || lease->state != fabric::LeaseState::bound) return false;
  if (lease->access != fabric::Access::remote_write) return false;
  const std::uint64_t at = to.offset - lease->segment.offset;
  if (at > lease->memory.size() || data.size() > lease->memory.size() - at) return false;
  if (!data.empty()) std::memcpy(lease->memory.data() + at, data.data(), data.size());
  std::size_t& placed = placed_[to.handle];
  if (at <= placed) placed = std::max<std::size_t>(placed, at + data.size());
  return true;
}

std::optional<std::size_t> FakeEndpoint::placed(const fabric::Lease& lease) const {
  if (!tells_placed) return std::nullopt;
  const auto found = placed_.find(lease.segment.handle);
  return found == placed_.end() ? 0 : found->second;
}

std::optional<Bytes> FakeEndpoint::remote_read(const fabric::Segment& from) const {
  const auto* lease = find(from.handle);
  if (!lease || lease->state != fabric::LeaseState::bound) return {};
  if (lease->access != fabric::Access::remote_read) return {};
  const std::uint64_t at = from.offset - lease->segment.offset;
  if (at > lease->memory.size() || from.length > lease->memory.size() - at) return {};
  const auto memory = lease->memory.subspan(at, from.length);
  return Bytes(memory.begin(), memory.end());
}

Result<void> FakeEndpoint::post_receive(fabric::ReceiveBuffer& buffer) {
  if (fail_receives) return fail(fabric_error(fabric::Fault::resources));
  require(!buffer.posted, "I1: a posted receive is posted again");
  buffer.posted = true;
  std::memset(buffer.memory.data(), kPoison, buffer.memory.size());
  receives_.push_back(&buffer);
  return {};
}

Result<void> FakeEndpoint::post_send(const fabric::SendWork& work) {
  SentMessage message;
  for (auto piece : work.pieces) {
    message.bytes.insert(message.bytes.end(), piece.begin(), piece.end());
    message.pieces.push_back(piece);
  }
  for (auto* lease : work.leases) {
    require(lease->state == fabric::LeaseState::prepared, "only prepared leases can be bound");
    lease->state = fabric::LeaseState::bound;
    message.leases.push_back(lease);
  }
  message.invalidate = work.invalidate;
  message.context = work.context;
  message.answered = work.answered;
  message.pace = work.pace;
  message.receives_posted = receives_.size();
  sent_.push_back(std::move(message));
  if (fail_sends) return fail(fabric_error(fabric::Fault::reset));
  const bool reports = sends_complete && !(ends_sends_by_answer && work.answered);
  if (reports) complete_send(sent_.size() - 1);
  return {};
}

bool FakeEndpoint::answered(void* context) {
  if (!ends_sends_by_answer) return false;
  for (auto& message : sent_) {
    if (message.context != context || message.done) continue;
    require(message.answered, "only an announced answer ends a Send");
    message.done = true;
    return true;
  }
  return false;
}

Result<void> FakeEndpoint::prepare(fabric::Lease& lease, std::span<std::byte> memory,
                                   fabric::Access access) {
  require(lease.state == fabric::LeaseState::free, "a lease in use is prepared again");
  if (prepares_before_failure == 0) {
    return fail(prepare_error.value_or(fabric_error(fabric::Fault::resources)));
  }
  if (prepares_before_failure > 0) --prepares_before_failure;
  lease.state = fabric::LeaseState::prepared;
  lease.access = access;
  lease.memory = memory;
  lease.segment.handle = next_handle_++;
  lease.segment.length = static_cast<std::uint32_t>(memory.size());
  lease.segment.offset = 0xFFFFFFF000000000U + lease.segment.handle * std::uint64_t{0x1000};
  leases_[lease.segment.handle] = &lease;
  return {};
}

void FakeEndpoint::cancel(fabric::Lease& lease) {
  require(lease.state == fabric::LeaseState::prepared, "only a prepared lease is cancelled");
  free_lease(lease);
}

void FakeEndpoint::free_lease(fabric::Lease& lease) {
  leases_.erase(lease.segment.handle);
  lease.state = fabric::LeaseState::free;
}

bool FakeEndpoint::invalidate(fabric::Lease& lease) {
  require(lease.state == fabric::LeaseState::bound, "only a bound lease is invalidated");
  if (invalidates_at_once || invalidated_.contains(lease.segment.handle)) {
    free_lease(lease);
    return true;
  }
  lease.state = fabric::LeaseState::invalidating;
  invalidating_.push_back(&lease);
  return false;
}

bool FakeEndpoint::remote_invalidation_safe() const { return fabric_.remote_invalidation; }

Result<void> FakeEndpoint::post_write(std::span<const std::span<const std::byte>>,
                                      const fabric::Segment&) {
  require(false, "a requester posts no RDMA Write");
  return {};
}

Result<void> FakeEndpoint::post_read(std::span<std::byte>, const fabric::Segment&, void*) {
  require(false, "a requester posts no RDMA Read");
  return {};
}

void FakeEndpoint::disconnect(Error reason) {
  if (disconnecting_) return;
  disconnecting_ = true;
  reason_ = std::move(reason);
  if (disconnects_when_asked) later([this] { go_down(*reason_); });
}

Result<std::unique_ptr<fabric::Endpoint>> FakeFabric::connect(
    const fabric::Address&, fabric::EndpointHandler& handler,
    const fabric::EndpointOptions& options) {
  if (refuses) return fail(fabric_error(fabric::Fault::refused));
  ++connections_;
  auto endpoint = std::make_unique<FakeEndpoint>(
      *this, handler, Bytes(options.private_data.begin(), options.private_data.end()),
      ++handle_connections_ * kHandlesPerConnection);
  endpoint->fail_receives = fail_receives;
  endpoint->sends_complete = sends_complete;
  endpoint->invalidates_at_once = invalidates_at_once;
  newest_ = endpoint.get();
  if (establishes) endpoint->establish(peer_private_data);
  return std::unique_ptr<fabric::Endpoint>(std::move(endpoint));
}

}  // namespace nfsrdma::test
