#include "transport/recording/recorded_fabric.h"

#include <utility>

#include "transport/recording/recorded_endpoint.h"

namespace nfsrdma::recording {
Result<std::unique_ptr<fabric::Endpoint>> RecordedFabric::connect(
    const fabric::Address& peer, fabric::EndpointHandler& handler,
    const fabric::EndpointOptions& options) {
  if (!sink_.on()) return fabric_->connect(peer, handler, options);
  auto recorded = std::make_unique<RecordedEndpoint>(handler);
  recorded->connect(sink_, peer, options.private_data);
  auto endpoint = fabric_->connect(peer, recorded->own_handler(), options);
  if (!endpoint) return fail_from(endpoint);
  recorded->stand_for(std::move(*endpoint));
  return std::unique_ptr<fabric::Endpoint>(std::move(recorded));
}

}  // namespace nfsrdma::recording
