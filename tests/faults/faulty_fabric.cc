#include "tests/faults/faulty_fabric.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/faults/faulty_endpoint.h"

namespace nfsrdma::faults {
namespace {

/// A connection request whose answer may be another one than the consumer's.
class FaultyRequest final : public fabric::ConnectRequest {
 public:
  FaultyRequest(Reactor& reactor, FabricScript& script,
                std::unique_ptr<fabric::ConnectRequest> inner,
                std::optional<std::vector<std::byte>> said)
      : reactor_(reactor), script_(script), inner_(std::move(inner)), said_(std::move(said)) {}

  std::span<const std::byte> private_data() const override { return inner_->private_data(); }
  std::string peer() const override { return inner_->peer(); }
  void reject(std::span<const std::byte> private_data) override { inner_->reject(private_data); }

  Result<std::unique_ptr<fabric::Endpoint>> accept(
      fabric::EndpointHandler& handler, const fabric::EndpointOptions& options) override {
    fabric::EndpointOptions changed = options;
    if (said_) changed.private_data = *said_;
    auto endpoint = std::make_unique<FaultyEndpoint>(reactor_, script_, handler);
    auto inner = inner_->accept(*endpoint, changed);
    if (!inner) return fail_from(inner);
    endpoint->adopt(std::move(*inner));
    for (const FabricFault& fault : script_.decide(At::accepted)) endpoint->meet(fault);
    return std::unique_ptr<fabric::Endpoint>(std::move(endpoint));
  }

 private:
  Reactor& reactor_;
  FabricScript& script_;
  std::unique_ptr<fabric::ConnectRequest> inner_;
  std::optional<std::vector<std::byte>> said_;
};

class FaultyListener final : public fabric::Listener, public fabric::ListenHandler {
 public:
  FaultyListener(Reactor& reactor, FabricScript& script, fabric::ListenHandler& handler)
      : reactor_(reactor), script_(script), handler_(handler) {}

  void adopt(std::unique_ptr<fabric::Listener> inner) { inner_ = std::move(inner); }
  fabric::Address address() const override { return inner_->address(); }

  void on_connect_request(std::unique_ptr<fabric::ConnectRequest> request) override {
    std::optional<std::vector<std::byte>> said;
    for (const FabricFault& fault : script_.decide(At::request)) {
      if (fault.what == What::reject) return request->reject({});
      if (fault.what == What::silent) return unanswered_.push_back(std::move(request));
      if (fault.what == What::private_data) said = fault.bytes;
    }
    handler_.on_connect_request(
        std::make_unique<FaultyRequest>(reactor_, script_, std::move(request), std::move(said)));
  }

 private:
  Reactor& reactor_;
  FabricScript& script_;
  fabric::ListenHandler& handler_;
  std::vector<std::unique_ptr<fabric::ConnectRequest>> unanswered_;
  std::unique_ptr<fabric::Listener> inner_;
};

}  // namespace

Result<std::unique_ptr<fabric::Endpoint>> FaultyFabric::connect(
    const fabric::Address& peer, fabric::EndpointHandler& handler,
    const fabric::EndpointOptions& options) {
  if (!script_.decide(At::connect).empty()) return fail(no_resources("connect"));
  auto endpoint = std::make_unique<FaultyEndpoint>(reactor_, script_, handler);
  auto inner = inner_.connect(peer, *endpoint, options);
  if (!inner) return fail_from(inner);
  endpoint->adopt(std::move(*inner));
  return std::unique_ptr<fabric::Endpoint>(std::move(endpoint));
}

Result<std::unique_ptr<fabric::Listener>> FaultyFabric::listen(const fabric::Address& local,
                                                               fabric::ListenHandler& handler) {
  auto listener = std::make_unique<FaultyListener>(reactor_, script_, handler);
  auto inner = inner_.listen(local, *listener);
  if (!inner) return fail_from(inner);
  listener->adopt(std::move(*inner));
  return std::unique_ptr<fabric::Listener>(std::move(listener));
}

}  // namespace nfsrdma::faults
