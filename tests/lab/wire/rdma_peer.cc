#include "tests/lab/wire/rdma_peer.h"

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

Result<void> RdmaPeer::start(const PeerOptions& options) {
  fabric::EndpointOptions endpoint;
  endpoint.private_data = options.private_data;
  endpoint.crc = options.crc;
  endpoint.capture = network_.capture();
  auto made = network_.fabric().connect(options.address, *this, endpoint);
  if (!made) return fail_from(made);
  endpoint_ = std::move(*made);
  for (std::size_t i = 0; i < options.receives; ++i) {
    auto& receive = receives_.emplace_back(std::make_unique<Receive>());
    receive->bytes.resize(options.receive_size);
    receive->memory = receive->bytes;
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
  auto& exposed = *exposed_.emplace_back(std::make_unique<Exposed>());
  exposed.memory.resize(size);
  TRY(endpoint_->prepare(exposed.lease, exposed.memory, access));
  return &exposed;
}

Result<void> RdmaPeer::send(std::span<const std::byte> bytes) {
  if (down_) return fail(*down_);
  auto& kept = *sends_.emplace_back(std::make_unique<Bytes>(bytes.begin(), bytes.end()));
  std::vector<fabric::Lease*> leases;
  for (auto& exposed : exposed_) {
    if (exposed->lease.state == fabric::LeaseState::prepared) leases.push_back(&exposed->lease);
  }
  const std::span<const std::byte> pieces[] = {kept};
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
