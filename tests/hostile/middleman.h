// What stands between the client and the server of a HostileMount.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "transport/base/reactor.h"
#include "transport/net/address.h"

namespace nfsrdma::hostile {

/// Lets everything pass until it is told otherwise. Reactor's thread only.
class Middleman {
 public:
  virtual ~Middleman() = default;
  /// Where the client has to connect to.
  virtual net::Address address() const = 0;
  /// Nothing is done wrong from now on.
  virtual void lift() = 0;
  /// What the client has done that it must not; empty: nothing. `memory` is all that it lends.
  virtual std::string harm(std::span<const std::span<std::byte>> memory) = 0;
};

/// Makes one for a server that listens there.
using MakeMiddleman =
    std::function<std::unique_ptr<Middleman>(Reactor& reactor, const net::Address& server)>;

}  // namespace nfsrdma::hostile
