// The listening half of a fabric: what a server needs and the client never does.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "transport/base/reactor.h"
#include "transport/fabric/fabric.h"

namespace nfsrdma::fabric {

/// An incoming connection that waits for accept or reject. Lives until one of them is called.
class ConnectRequest {
 public:
  virtual ~ConnectRequest() = default;
  virtual std::span<const std::byte> private_data() const = 0;
  virtual std::string peer() const = 0;
  /// Post Receives on the returned endpoint at once: the peer's first message is not lost then. The
  /// handler gets no on_established.
  virtual Result<std::unique_ptr<Endpoint>> accept(EndpointHandler& handler,
                                                   const EndpointOptions& options) = 0;
  virtual void reject(std::span<const std::byte> private_data) = 0;
};

class ListenHandler {
 public:
  virtual ~ListenHandler() = default;
  virtual void on_connect_request(std::unique_ptr<ConnectRequest> request) = 0;
};

/// Stops listening when destroyed; accepted endpoints live on.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual Address address() const = 0;  ///< with the port the system chose, if 0 was asked
};

/// A provider that accepts connections, too.
class ListeningFabric : public Fabric {
 public:
  virtual Result<std::unique_ptr<Listener>> listen(const Address& local,
                                                   ListenHandler& handler) = 0;
};

/// The base of a fabric that leaves all but listening to another one.
class ForwardingFabric : public ListeningFabric {
 public:
  /// `inner` outlives it.
  explicit ForwardingFabric(Fabric& inner) : inner_(inner) {}
  explicit ForwardingFabric(std::unique_ptr<Fabric> inner)
      : owned_(std::move(inner)), inner_(*owned_) {}
  std::string_view name() const override { return inner_.name(); }
  bool remote_invalidation_safe(const Address& peer) override {
    return inner_.remote_invalidation_safe(peer);
  }
  Result<void> register_pool(BufferPool& pool) override { return inner_.register_pool(pool); }
  Result<std::unique_ptr<Endpoint>> connect(const Address& peer, EndpointHandler& handler,
                                            const EndpointOptions& options) override {
    return inner_.connect(peer, handler, options);
  }

 private:
  std::unique_ptr<Fabric> owned_;  // null when the inner one is another's
  Fabric& inner_;
};

/// The client's iWARP provider, and a listener in front of its endpoints.
std::unique_ptr<ListeningFabric> make_listening_iwarp_fabric(Reactor& reactor);

}  // namespace nfsrdma::fabric
