// An incoming connection whose MPA Request is known, waiting for the consumer's decision.
#pragma once

#include <memory>
#include <string>

#include "tests/responder/fabric/listening_fabric.h"
#include "transport/base/reactor.h"
#include "transport/base/unique_fd.h"
#include "transport/capture/sink.h"
#include "transport/fabric/iwarp/mpa_frame.h"
#include "transport/fabric/iwarp/stag_table.h"

namespace nfsrdma::fabric::iwarp {

class IwarpConnectRequest final : public ConnectRequest {
 public:
  IwarpConnectRequest(Reactor& reactor, std::shared_ptr<StagTable> stags, UniqueFd socket,
                      StartupFrame request);

  std::span<const std::byte> private_data() const override { return request_.private_data; }
  std::string peer() const override { return peer_.text(); }
  Result<std::unique_ptr<Endpoint>> accept(EndpointHandler& handler,
                                           const EndpointOptions& options) override;
  void reject(std::span<const std::byte> private_data) override;

 private:
  std::unique_ptr<capture::Flow> start_capture(capture::Sink* sink) const;

  Reactor& reactor_;
  std::shared_ptr<StagTable> stags_;
  UniqueFd socket_;
  Address peer_;
  StartupFrame request_;
};

/// Answers a request with a Reject frame. Best effort: the connection is given up anyway.
void send_rejection(int fd, const StartupFrame& request, std::span<const std::byte> private_data);

}  // namespace nfsrdma::fabric::iwarp
