// TCP connections: sockets, their options, their errors. The iwarp provider and transport/tcp stand
// on it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "transport/base/metrics.h"
#include "transport/base/result.h"
#include "transport/base/unique_fd.h"
#include "transport/capture/sink.h"
#include "transport/net/address.h"
#include "transport/net/byte_stream.h"

namespace nfsrdma::net {

/// A non-blocking TCP socket with the options of set_connection_options().
Result<UniqueFd> make_socket(int family);
/// The options that every connection has (no delay, keep-alive, a bound on unacknowledged data),
/// for a socket that accept(2) returned.
void set_connection_options(int fd);
Address local_address(int fd);
Address peer_address(int fd);
/// The TCP maximum segment size in use, in bytes.
std::size_t maximum_segment(int fd);
/// The outcome of a non-blocking connect(2): 0 or an errno value.
int connect_outcome(int fd);
/// What a socket error means for a connection; `step` says what was being done.
Error socket_error(int error_number, const char* step, std::string detail = {});

/// What a TcpStream counts.
struct StreamCounters {
  Counter read_calls;   ///< system calls
  Counter write_calls;  ///< system calls
  Counter bytes_received;
  Counter bytes_sent;
};

/// A connected socket as a ByteStream, counted and, if asked, captured.
class TcpStream final : public ByteStream {
 public:
  /// `capture` may be null.
  TcpStream(UniqueFd socket, StreamCounters& counters, std::unique_ptr<capture::Flow> capture)
      : socket_(std::move(socket)), counters_(counters), capture_(std::move(capture)) {}

  ssize_t read(std::span<iovec> into) override;
  ssize_t write(std::span<iovec> from) override;
  void finish_writing() override;
  /// For the capture, of what is written next.
  void comment(std::string_view text) {
    if (capture_) comment_ = text;
  }
  int fd() const { return socket_.get(); }
  /// Takes the socket out of a stream that is not used any more.
  UniqueFd release() { return std::move(socket_); }

 private:
  UniqueFd socket_;
  StreamCounters& counters_;
  std::unique_ptr<capture::Flow> capture_;
  std::string comment_;  // of what is written next
};

}  // namespace nfsrdma::net
