#include <mutex>

#include "transport/fabric/fabric.h"
#include "transport/fabric/iwarp/endpoint.h"
#include "transport/fabric/iwarp/mpa_negotiation.h"

namespace nfsrdma::fabric {
namespace iwarp {
namespace {

class IwarpFabric final : public Fabric {
 public:
  explicit IwarpFabric(Reactor& reactor)
      : reactor_(reactor), stags_(std::make_shared<StagTable>()) {}

  std::string_view name() const override { return "iwarp"; }
  // A peer that invalidates an STag harms no other call: each STag is made for one.
  bool remote_invalidation_safe(const Address&) override { return true; }
  Result<void> register_pool(BufferPool&) override { return {}; }

  Result<std::unique_ptr<Endpoint>> connect(const Address& peer, EndpointHandler& handler,
                                            const EndpointOptions& options) override {
    auto terms = make_terms(options);
    if (!terms) return fail_from(terms);
    auto endpoint = std::make_unique<IwarpEndpoint>(reactor_, stags_, handler);
    TRY(endpoint->connect(peer, std::move(*terms), options, quirks_));
    return std::unique_ptr<Endpoint>(std::move(endpoint));
  }

 private:
  Reactor& reactor_;
  // Shared with endpoints, which may outlive the fabric. A fabric is for one server.
  std::shared_ptr<StagTable> stags_;
  std::shared_ptr<PeerQuirks> quirks_ = std::make_shared<PeerQuirks>();
};

}  // namespace
}  // namespace iwarp

std::unique_ptr<Fabric> make_iwarp_fabric(Reactor& reactor) {
  static std::once_flag named;
  std::call_once(named, [] { register_code_namer(Layer::fabric, fault_name); });
  return std::make_unique<iwarp::IwarpFabric>(reactor);
}

}  // namespace nfsrdma::fabric
