#include "tests/responder/fabric/verbs_fabric.h"

#include "tests/responder/fabric/verbs_listener.h"
#include "transport/fabric/verbs/verbs_context.h"

namespace nfsrdma::fabric {
namespace verbs {
namespace {

class ListeningVerbs final : public ForwardingFabric {
 public:
  explicit ListeningVerbs(std::shared_ptr<VerbsContext> context)
      : ForwardingFabric(make_fabric(context)), context_(std::move(context)) {}

  Result<std::unique_ptr<Listener>> listen(const Address& local, ListenHandler& handler) override {
    auto listener = std::make_unique<VerbsListener>(context_, handler);
    TRY(listener->start(local));
    return std::unique_ptr<Listener>(std::move(listener));
  }

 private:
  std::shared_ptr<VerbsContext> context_;  // the inner fabric's, which closes it
};

}  // namespace
}  // namespace verbs

std::unique_ptr<ListeningFabric> make_listening_verbs_fabric(Reactor& reactor,
                                                             VerbsOptions options) {
  return std::make_unique<verbs::ListeningVerbs>(
      std::make_shared<verbs::VerbsContext>(reactor, std::move(options)));
}

}  // namespace nfsrdma::fabric
