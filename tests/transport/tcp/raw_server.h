// The server's end of a connection under test: sends whatever bytes a test wants, and takes apart
// what comes. Never blocks, so that it runs on the test's thread.
#pragma once

#include <vector>

#include "tests/transport/tcp/wire.h"
#include "transport/base/unique_fd.h"
#include "transport/fabric/fabric.h"

namespace nfsrdma::test {

class RawServer {
 public:
  RawServer();

  const net::Address& address() const { return address_; }
  /// Takes the next connection, if there is one; the one before is closed.
  bool accept();
  void send(std::span<const std::byte> bytes);
  /// Takes what has come.
  void receive();
  /// Messages of one fragment each, as they came.
  std::vector<Bytes> messages;
  bool ended = false;  ///< the client has closed
  void close() { connection_.reset(); }

 private:
  void cut();

  net::Address address_;
  UniqueFd listener_;
  UniqueFd connection_;
  Bytes pending_;
};

}  // namespace nfsrdma::test
