#include "tests/lab/wire/rdma_peer.h"

#include <algorithm>
#include <cerrno>

namespace nfsrdma::lab {
namespace {

class OneCounter final : public CounterVisitor {
 public:
  explicit OneCounter(std::string_view name) : name_(name) {}
  void visit(std::string_view name, std::uint64_t value) override {
    if (name == name_) found = value;
  }
  std::uint64_t found = 0;

 private:
  std::string_view name_;
};

}  // namespace

Result<std::unique_ptr<Peer>> RdmaPeer::connect(Network& network, const PeerOptions& options) {
  std::unique_ptr<RdmaPeer> peer(new RdmaPeer(network, options));
  TRY(peer->start(options));
  return std::unique_ptr<Peer>(std::move(peer));
}

/// With keys that outlive a call an invalidated one would be gone for every connection.
Result<void> RdmaPeer::check_invalidation(const PeerOptions& options) {
  const bool asks = rdma::decode_private_data(options.private_data).remote_invalidation;
  if (carrier_ != Carrier::verbs || !asks) return {};
  if (provider_.fabric->remote_invalidation_safe(options.address)) return {};
  return fail(Error::local(EOPNOTSUPP, kNotOverVerbs,
                           "this device has no keys that a peer may invalidate (R=1)"));
}

Result<void> RdmaPeer::start(const PeerOptions& options) {
  TRY(check_invalidation(options));
  fabric::EndpointOptions endpoint;
  endpoint.private_data = options.private_data;
  endpoint.crc = options.crc;
  endpoint.capture = network_.capture();
  auto made = provider_.fabric->connect(options.address, *this, endpoint);
  if (!made) return fail_from(made);
  endpoint_ = std::move(*made);
  for (std::size_t i = 0; i < options.receives; ++i) {
    auto slot = provider_.memory.acquire(options.receive_size);
    if (!slot) return fail_from(slot);
    auto& receive = receives_.emplace_back(std::make_unique<Receive>());
    receive->slot = std::move(*slot);
    receive->memory = receive->slot.first(options.receive_size);
    TRY(endpoint_->post_receive(*receive));
  }
  return {};
}

RdmaPeer::~RdmaPeer() {
  endpoint_.reset();
  forget_leases();
}

/// The provider is gone without a word; nothing is exposed any more.
void RdmaPeer::forget_leases() {
  for (auto& exposed : exposed_) exposed->lease.state = fabric::LeaseState::free;
}

Result<Exposed*> RdmaPeer::expose(std::size_t size, fabric::Access access) {
  if (down_) return fail(*down_);
  // No byte has no key: rxe ends the connection for a window without one.
  const std::size_t reachable = std::max<std::size_t>(size, carrier_ == Carrier::verbs ? 1 : 0);
  auto slot = provider_.memory.acquire(reachable);
  if (!slot) return fail_from(slot);
  auto& exposed = *exposed_.emplace_back(std::make_unique<Exposed>());
  exposed.slot = std::move(*slot);
  exposed.memory = exposed.slot.first(size);
  TRY(endpoint_->prepare(exposed.lease, exposed.slot.first(reachable), access));
  return &exposed;
}

Result<void> RdmaPeer::send(std::span<const std::byte> bytes) {
  if (down_) return fail(*down_);
  auto slot = provider_.memory.acquire(bytes.size());
  if (!slot) return fail_from(slot);
  auto& kept = *sends_.emplace_back(std::make_unique<Buffer>(std::move(*slot)));
  std::ranges::copy(bytes, kept.data());
  std::vector<fabric::Lease*> leases;
  for (auto& exposed : exposed_) {
    if (exposed->lease.state == fabric::LeaseState::prepared) leases.push_back(&exposed->lease);
  }
  const std::span<const std::byte> pieces[] = {kept.first(bytes.size())};
  fabric::SendWork work;
  work.pieces = pieces;
  work.leases = leases;
  work.context = &kept;
  sent_frame_ = network_.capture() ? network_.packets() + 1 : 0;
  return endpoint_->post_send(work);
}

void RdmaPeer::close(bool orderly) {
  if (!endpoint_ || down_) return;
  if (orderly) {
    endpoint_->disconnect(
        Error{Layer::fabric, static_cast<int>(net::Fault::local_close), "disconnect", {}, 0, 0});
    return;
  }
  endpoint_.reset();
  forget_leases();
  down_ = Error{Layer::fabric, static_cast<int>(net::Fault::local_close), "drop", {}, 0, 0};
}

std::uint64_t RdmaPeer::counter(std::string_view name) const {
  OneCounter visitor(name);
  if (endpoint_) endpoint_->visit_counters(visitor);
  return visitor.found;
}

void RdmaPeer::on_established(const fabric::ConnectionInfo& info) {
  established_ = true;
  private_data_.assign(info.peer_private_data.begin(), info.peer_private_data.end());
  description_ = info.description;
}

void RdmaPeer::on_receive(fabric::ReceiveBuffer& buffer, std::size_t length,
                          std::optional<std::uint32_t> invalidated) {
  const auto bytes = buffer.memory.first(length);
  arrived_.push_back({Bytes(bytes.begin(), bytes.end()), invalidated, network_.packets()});
  // An error says that the connection is ending: on_disconnected follows.
  if (!hold_receives_) (void)endpoint_->post_receive(buffer);
}

void RdmaPeer::on_send_done(void* context) {
  std::erase_if(sends_, [context](const auto& send) { return send.get() == context; });
}

void RdmaPeer::on_disconnected(const Error& reason) {
  down_ = reason;
  forget_leases();
}

}  // namespace nfsrdma::lab
