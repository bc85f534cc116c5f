// The provider under test as responder, with leased memory, against a raw socket that may send
// anything.
#pragma once

#include <string>

#include "tests/transport/fabric/fabric_fixture.h"
#include "tests/transport/fabric/iwarp/raw_peer.h"

namespace nfsrdma::fabric::testing {

/// Memory between two canaries.
class Guarded {
 public:
  explicit Guarded(std::size_t size, unsigned seed = 0);
  std::span<std::byte> memory() { return std::span(storage_).subspan(kCanary, size_); }
  bool canaries_intact() const;
  bool untouched() const { return storage_ == original_; }

 private:
  static constexpr std::size_t kCanary = 4096;
  std::size_t size_;
  Bytes storage_;
  Bytes original_;
};

class HostileTest : public ::testing::Test {
 protected:
  static constexpr std::size_t kLeased = 8192;
  static constexpr std::size_t kReceive = 1024;

  HostileTest();

  /// MPA startup and one Send, so that both sides may talk.
  void open();
  /// open(), then a Send of the server binds write_lease and read_lease.
  void open_with_leases();
  /// Forgets the connection, to open another one.
  void start_over();
  End& server() { return *acceptor.ends.front(); }

  /// The server has sent a Terminate with this code (layer, type, code as one number), reported
  /// this fault with a text that contains `words`, and given everything back.
  void expect_terminated(unsigned code, Fault fault, const std::string& words);
  void expect_everything_returned();

  Loop loop;
  std::unique_ptr<ListeningFabric> fabric;
  Acceptor acceptor;
  std::unique_ptr<Listener> listener;
  RawPeer peer;
  Guarded writable{kLeased};
  Guarded readable{kLeased, 5};
  Lease write_lease;
  Lease read_lease;
  std::uint32_t next_msn = 1;
};

}  // namespace nfsrdma::fabric::testing
