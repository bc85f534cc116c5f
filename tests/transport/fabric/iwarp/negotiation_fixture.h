// For tests of MPA startup against a raw socket (RFC 5044 section 7.1, RFC 6581).
#pragma once

#include "tests/transport/fabric/fabric_fixture.h"
#include "tests/transport/fabric/iwarp/raw_peer.h"

namespace nfsrdma::fabric::testing {

// Flags of a startup frame.
inline constexpr std::uint8_t kM = 0x80;
inline constexpr std::uint8_t kC = 0x40;
inline constexpr std::uint8_t kR = 0x20;
inline constexpr std::uint8_t kS = 0x10;

inline int flags_of(const Bytes& frame) { return std::to_integer<int>(frame[16]); }
inline int revision_of(const Bytes& frame) { return std::to_integer<int>(frame[17]); }

class NegotiationTest : public ::testing::Test {
 protected:
  NegotiationTest() : fabric(make_listening_iwarp_fabric(loop.reactor())) {}

  Loop loop;
  std::unique_ptr<ListeningFabric> fabric;
  EndpointOptions options;
};

}  // namespace nfsrdma::fabric::testing
