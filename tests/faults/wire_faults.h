// Faults below the fabric: frames on their way from a server to its clients.
#pragma once

#include <memory>

#include "tests/faults/fabric_fault.h"
#include "tests/hostile/relay.h"
#include "transport/base/reactor.h"
#include "transport/base/result.h"
#include "transport/net/address.h"

namespace nfsrdma::faults {

enum class Framing : std::uint8_t {
  mpa,      ///< iWARP: MPA startup, then FPDUs
  records,  ///< RPC over TCP
};

/// Listens where clients connect to, and passes everything on to and from a server, frame by frame.
/// One reactor, its thread; the script outlives it.
class WireFaults {
 public:
  static Result<std::unique_ptr<WireFaults>> listen(Reactor& reactor, const net::Address& address,
                                                    const net::Address& server, Framing framing,
                                                    FabricScript& script);
  /// Where it listens, with the port that was chosen.
  net::Address address() const { return relay_.address(); }

 private:
  WireFaults(Reactor& reactor, UniqueFd listening, const net::Address& server, Framing framing,
             FabricScript& script);

  hostile::Relay relay_;
};

}  // namespace nfsrdma::faults
