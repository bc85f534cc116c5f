// A peer that is only a TCP socket: it sends whatever a test wants, right or wrong.
#pragma once

#include <vector>

#include "tests/transport/fabric/fabric_fixture.h"
#include "tests/transport/fabric/iwarp/wire_frames.h"
#include "transport/base/unique_fd.h"

namespace nfsrdma::fabric::testing {

class RawPeer {
 public:
  explicit RawPeer(Loop& loop) : loop_(&loop) {}

  /// As initiator: connects TCP; startup() then does MPA with the frame given.
  void connect(const Address& to);
  /// As responder: waits for one TCP connection.
  void listen(const char* host);
  Address address() const;
  void accept();

  /// Sends everything, turning the loop while the other side does not take it.
  void send(const Bytes& bytes);
  /// Waits until at least this many bytes have come in all.
  void receive(std::size_t bytes);
  /// Waits for `count` FPDUs (beyond those that came before), which move to `fpdus`.
  void receive_fpdus(std::size_t count);
  /// Waits until the other side has closed.
  void receive_end();
  void finish_writing();
  void close();
  void reset();  ///< closes with RST

  /// Waits for, removes and returns the MPA frame of the other side.
  Bytes receive_startup();
  /// The Terminate message received last, if any: layer << 12 | type << 8 | code.
  std::optional<unsigned> terminate() const;

  bool small_receive_buffer = false;  ///< set before connect(): the other side is soon blocked
  Bytes received;
  std::vector<wire::Parsed> fpdus;
  bool ended = false;

 private:
  void read_available();

  Loop* loop_;
  UniqueFd listening_;
  UniqueFd fd_;
};

}  // namespace nfsrdma::fabric::testing
