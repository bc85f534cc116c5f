#include "tests/responder/fabric/recorded_listening_fabric.h"

#include <netinet/in.h>

#include <string>
#include <utility>

#include "transport/recording/recorded_endpoint.h"
#include "transport/recording/recorded_fabric.h"

namespace nfsrdma::recording {
namespace {

/// "192.0.2.1:1000", "[::1]:1000" of a peer; what is no address becomes 0.0.0.0.
fabric::Address address_of(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  std::string host = text.substr(0, colon);
  if (host.size() > 2 && host.front() == '[') host = host.substr(1, host.size() - 2);
  // The address is numeric, so the resolver sends no query.
  auto resolved = net::resolve(host, 0, AF_UNSPEC);
  if (resolved && !resolved->empty()) return resolved->front();
  fabric::Address none;
  none.storage.ss_family = AF_INET;
  none.length = sizeof(sockaddr_in);
  return none;
}

class RecordedRequest final : public fabric::ConnectRequest {
 public:
  RecordedRequest(std::unique_ptr<fabric::ConnectRequest> request, capture::Sink& sink,
                  fabric::Address local)
      : request_(std::move(request)), sink_(sink), local_(local) {}

  std::span<const std::byte> private_data() const override { return request_->private_data(); }
  std::string peer() const override { return request_->peer(); }
  Result<std::unique_ptr<fabric::Endpoint>> accept(fabric::EndpointHandler& handler,
                                                   const fabric::EndpointOptions& options) override;
  void reject(std::span<const std::byte> private_data) override { request_->reject(private_data); }

 private:
  std::unique_ptr<fabric::ConnectRequest> request_;
  capture::Sink& sink_;
  fabric::Address local_;
};

Result<std::unique_ptr<fabric::Endpoint>> RecordedRequest::accept(
    fabric::EndpointHandler& handler, const fabric::EndpointOptions& options) {
  if (!sink_.on()) return request_->accept(handler, options);
  const fabric::Address peer = address_of(request_->peer());
  if (peer.storage.ss_family != local_.storage.ss_family) {  // bound to any address
    local_ = peer;
    local_.storage = {};
    local_.storage.ss_family = peer.storage.ss_family;
  }
  auto flow = capture::RoceFlow::open(sink_, *local_.get(), *peer.get(), false);
  if (flow) flow->connected(request_->private_data(), options.private_data);
  auto recorded = std::make_unique<RecordedEndpoint>(handler);
  recorded->accepted(std::move(flow));
  auto endpoint = request_->accept(recorded->own_handler(), options);
  if (!endpoint) return fail_from(endpoint);
  recorded->stand_for(std::move(*endpoint));
  return std::unique_ptr<fabric::Endpoint>(std::move(recorded));
}

class RecordedListener final : public fabric::Listener, private fabric::ListenHandler {
 public:
  RecordedListener(fabric::ListenHandler& handler, capture::Sink& sink)
      : handler_(handler), sink_(sink) {}

  Result<void> start(fabric::ListeningFabric& fabric, const fabric::Address& local) {
    auto listener = fabric.listen(local, *this);
    if (!listener) return fail_from(listener);
    listener_ = std::move(*listener);
    return {};
  }
  fabric::Address address() const override { return listener_->address(); }

 private:
  void on_connect_request(std::unique_ptr<fabric::ConnectRequest> request) override {
    handler_.on_connect_request(
        std::make_unique<RecordedRequest>(std::move(request), sink_, listener_->address()));
  }

  fabric::ListenHandler& handler_;
  capture::Sink& sink_;
  std::unique_ptr<fabric::Listener> listener_;
};

}  // namespace

RecordedListeningFabric::RecordedListeningFabric(std::unique_ptr<fabric::ListeningFabric> fabric,
                                                 capture::Sink& sink)
    : RecordedListeningFabric(*fabric, std::move(fabric), sink) {}

RecordedListeningFabric::RecordedListeningFabric(fabric::ListeningFabric& listening,
                                                 std::unique_ptr<fabric::ListeningFabric>&& same,
                                                 capture::Sink& sink)
    : ForwardingFabric(std::make_unique<RecordedFabric>(std::move(same), sink)),
      listening_(listening),
      sink_(sink) {}

Result<std::unique_ptr<fabric::Listener>> RecordedListeningFabric::listen(
    const fabric::Address& local, fabric::ListenHandler& handler) {
  auto recorded = std::make_unique<RecordedListener>(handler, sink_);
  TRY(recorded->start(listening_, local));
  return std::unique_ptr<fabric::Listener>(std::move(recorded));
}

}  // namespace nfsrdma::recording
