// Records the accepted connections of a provider, as transport/recording does those that it makes.
#pragma once

#include <memory>

#include "tests/responder/fabric/listening_fabric.h"
#include "transport/capture/sink.h"

namespace nfsrdma::recording {

/// RecordedFabric, and the same for connections that are accepted.
class RecordedListeningFabric final : public fabric::ForwardingFabric {
 public:
  /// `sink` outlives it.
  RecordedListeningFabric(std::unique_ptr<fabric::ListeningFabric> fabric, capture::Sink& sink);

  Result<std::unique_ptr<fabric::Listener>> listen(const fabric::Address& local,
                                                   fabric::ListenHandler& handler) override;

 private:
  RecordedListeningFabric(fabric::ListeningFabric& listening,
                          std::unique_ptr<fabric::ListeningFabric>&& same, capture::Sink& sink);

  fabric::ListeningFabric& listening_;  // the provider, which the base owns
  capture::Sink& sink_;
};

}  // namespace nfsrdma::recording
