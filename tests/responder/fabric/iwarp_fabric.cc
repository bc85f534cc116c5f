#include "tests/responder/fabric/iwarp_listener.h"
#include "tests/responder/fabric/listening_fabric.h"

namespace nfsrdma::fabric {
namespace iwarp {
namespace {

class ListeningIwarp final : public ForwardingFabric {
 public:
  explicit ListeningIwarp(Reactor& reactor)
      : ForwardingFabric(make_iwarp_fabric(reactor)), reactor_(reactor) {}

  Result<std::unique_ptr<Listener>> listen(const Address& local, ListenHandler& handler) override {
    auto listener = std::make_unique<IwarpListener>(reactor_, stags_, handler);
    TRY(listener->start(local));
    return std::unique_ptr<Listener>(std::move(listener));
  }

 private:
  Reactor& reactor_;
  // Of the accepted endpoints, which may outlive the fabric.
  std::shared_ptr<StagTable> stags_ = std::make_shared<StagTable>();
};

}  // namespace
}  // namespace iwarp

std::unique_ptr<ListeningFabric> make_listening_iwarp_fabric(Reactor& reactor) {
  return std::make_unique<iwarp::ListeningIwarp>(reactor);
}

}  // namespace nfsrdma::fabric
