#include <mutex>

#include "transport/fabric/fabric.h"
#include "transport/fabric/verbs/endpoint.h"
#include "transport/fabric/verbs/route.h"
#include "transport/fabric/verbs/verbs.h"
#include "transport/fabric/verbs/verbs_context.h"

namespace nfsrdma::fabric {
namespace verbs {
namespace {

class VerbsFabric final : public Fabric {
 public:
  explicit VerbsFabric(std::shared_ptr<VerbsContext> context) : context_(std::move(context)) {}
  ~VerbsFabric() override { context_->close(); }

  std::string_view name() const override { return "verbs"; }

  bool remote_invalidation_safe(const Address& peer) override {
    auto route = find_route(peer, context_->options().device);
    if (!route) return false;
    const auto tier = Device::tier_of(route->device(), context_->options().registration);
    return tier && *tier == Tier::windows;
  }

  Result<void> register_pool(BufferPool& pool) override { return context_->add_pool(pool); }

  Result<std::unique_ptr<Endpoint>> connect(const Address& peer, EndpointHandler& handler,
                                            const EndpointOptions& options) override {
    auto endpoint = std::make_unique<VerbsEndpoint>(context_, handler, options);
    endpoint->connect(peer);
    return std::unique_ptr<Endpoint>(std::move(endpoint));
  }

 private:
  std::shared_ptr<VerbsContext> context_;  // endpoints may outlive the fabric
};

}  // namespace

std::unique_ptr<Fabric> make_fabric(std::shared_ptr<VerbsContext> context) {
  static std::once_flag named;
  std::call_once(named, [] { register_code_namer(Layer::fabric, fault_name); });
  return std::make_unique<VerbsFabric>(std::move(context));
}

}  // namespace verbs

std::unique_ptr<Fabric> make_verbs_fabric(Reactor& reactor, VerbsOptions options) {
  return verbs::make_fabric(std::make_shared<verbs::VerbsContext>(reactor, std::move(options)));
}

}  // namespace nfsrdma::fabric
