// What all connections of the lab share: the reactor, the providers, the capture.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "tests/lab/wire/memory.h"
#include "tests/lab/wire/peer.h"
#include "tests/lab/wire/provider.h"
#include "transport/base/reactor.h"
#include "transport/capture/sink.h"

namespace nfsrdma::lab {

class Network {
 public:
  /// A provider and the memory that it reaches.
  struct Provider {
    Memory memory;
    std::unique_ptr<fabric::Fabric> fabric;
  };

  /// `verbs` makes the provider of Carrier::verbs, with its first connection; empty: that of the
  /// product.
  explicit Network(FabricMaker verbs = {});

  /// Records every connection; comes before the first one. A device's are recorded as RoCEv2.
  Result<void> capture_to(const std::string& path);
  /// Starts connecting; the peer is up or down some turns of the reactor later.
  Result<std::unique_ptr<Peer>> connect(const PeerOptions& options);
  /// Runs the reactor until `condition` holds, at most for `patience`; whether it holds.
  bool until(Duration patience, const std::function<bool()>& condition);

  Reactor& reactor() { return *reactor_; }
  /// That of a carrier which has RDMA.
  Provider& provider(Carrier carrier);
  capture::Sink* capture() { return capture_.get(); }
  std::uint64_t packets() const { return capture_ ? capture_->packets() : 0; }

 private:
  std::unique_ptr<Reactor> reactor_;
  std::unique_ptr<capture::Sink> capture_;
  const FabricMaker make_verbs_;
  Provider iwarp_;
  Provider verbs_;
};

/// Where servers listen as a rule.
inline constexpr std::uint16_t kRdmaPort = 20049;
inline constexpr std::uint16_t kTcpPort = 2049;

/// "HOST:PORT", "[ADDR]:PORT", or HOST with `default_port`, looked up. The first address counts.
Result<fabric::Address> find_server(const std::string& text, std::uint16_t default_port);

}  // namespace nfsrdma::lab
