#include "tests/responder/fabric/verbs_request.h"

#include <sys/socket.h>

#include "transport/fabric/verbs/address.h"
#include "transport/fabric/verbs/endpoint.h"

namespace nfsrdma::fabric::verbs {

VerbsConnectRequest::VerbsConnectRequest(std::shared_ptr<VerbsContext> context,
                                         const ConnectionEvent& request)
    : context_(std::move(context)), id_(request.id), request_(request) {
  EventChannel::set_handler(id_.get(), *this);
}

std::string VerbsConnectRequest::peer() const {
  return id_ ? address_of(*::rdma_get_peer_addr(id_.get())).text() : "unknown address";
}

Result<std::unique_ptr<Endpoint>> VerbsConnectRequest::accept(EndpointHandler& handler,
                                                              const EndpointOptions& options) {
  auto endpoint = std::make_unique<VerbsEndpoint>(context_, handler, options);
  TRY(endpoint->adopt(std::move(id_), request_));
  return std::unique_ptr<Endpoint>(std::move(endpoint));
}

void VerbsConnectRequest::reject(std::span<const std::byte> private_data) {
  // Best effort: the request is gone either way.
  (void)::rdma_reject(id_.get(), private_data.data(),
                      static_cast<std::uint8_t>(private_data.size()));
  id_.reset();
}

}  // namespace nfsrdma::fabric::verbs
