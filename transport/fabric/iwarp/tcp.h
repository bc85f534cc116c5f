// Sockets: what is particular to TCP lives here.
#pragma once

#include <cstddef>
#include <memory>

#include "transport/base/result.h"
#include "transport/base/unique_fd.h"
#include "transport/capture/sink.h"
#include "transport/fabric/fabric.h"
#include "transport/fabric/iwarp/byte_stream.h"
#include "transport/fabric/iwarp/counters.h"

namespace nfsrdma::fabric::iwarp {

/// A non-blocking TCP socket with the options every connection of this provider has.
Result<UniqueFd> make_socket(int family);
/// The options alone, for a socket that accept(2) returned.
void set_connection_options(int fd);
/// A listening socket bound to `local`.
Result<UniqueFd> make_listening_socket(const Address& local);
Address local_address(int fd);
Address peer_address(int fd);
/// The TCP maximum segment size in use, in octets.
std::size_t maximum_segment(int fd);
/// An error of this layer on an established connection.
Error connection_error(Fault fault, std::string detail);
/// What a socket error means for a connection; `step` says what was being done.
Error socket_error(int error_number, const char* step, std::string detail = {});

/// A connected socket as a ByteStream, counted and, if asked, captured.
class TcpStream final : public ByteStream {
 public:
  /// `capture` may be null.
  TcpStream(UniqueFd socket, Counters& counters, std::unique_ptr<capture::Flow> capture)
      : socket_(std::move(socket)), counters_(counters), capture_(std::move(capture)) {}

  ssize_t read(std::span<iovec> into) override;
  ssize_t write(std::span<iovec> from) override;
  void finish_writing() override;
  int fd() const { return socket_.get(); }
  /// Takes the socket out of a stream that is not used any more.
  UniqueFd release() { return std::move(socket_); }

 private:
  UniqueFd socket_;
  Counters& counters_;
  std::unique_ptr<capture::Flow> capture_;
};

}  // namespace nfsrdma::fabric::iwarp
