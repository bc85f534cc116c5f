// One client's TCP connection: records in, records out (RFC 5531 section 11), callbacks.
//
// Written apart from transport/tcp on purpose: a mistake made twice is less likely.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tests/responder/service.h"
#include "tests/responder/transport/core.h"
#include "tests/responder/transport/tcp_call.h"
#include "transport/base/unique_fd.h"
#include "transport/net/tcp_stream.h"

namespace nfsrdma::responder {

inline constexpr std::size_t kRecordMarkBytes = 4;
std::array<std::byte, kRecordMarkBytes> record_mark(std::uint32_t length, bool last);

/// Told when a connection has ended, so that it can be taken apart.
class TcpConnectionOwner {
 public:
  virtual void on_connection_ended(class TcpConnection& connection) = 0;

 protected:
  ~TcpConnectionOwner() = default;
};

/// Owned by the Responder; disposed of after on_connection_ended. Reactor's thread only.
class TcpConnection final : public Connection, private FdHandler, private BufferWaiter {
 public:
  TcpConnection(Core& core, TcpCalls& calls, TcpConnectionOwner& owner, std::uint64_t id,
                UniqueFd socket);
  ~TcpConnection();

  Result<void> start();
  /// Starts closing; on_connection_ended follows.
  void disconnect(const char* why) override;
  bool closing() const { return closing_; }

  // Connection
  std::uint64_t id() const override { return id_; }
  Result<void> call_back(const CallbackTarget& target, std::function<void(xdr::Encoder&)> encode,
                         std::function<void(Result<xdr::Decoder>)> done) override;
  std::size_t max_backward_message() const override { return kMaxBackward; }

  /// Sends the message as one record; `call` is told when the socket has it.
  void send(const xdr::Encoder& message, TcpCall& call);
  /// Sends bytes as they are.
  void send_bytes(std::vector<std::byte> bytes);

 private:
  static constexpr std::size_t kMaxBackward = 4096;
  static constexpr std::size_t kStage = 8192;  ///< several small calls

  /// Bytes on their way to the socket. `own` keeps bytes without another owner.
  struct Sending {
    std::vector<std::byte> own;
    std::vector<iovec> pieces;
    std::size_t first = 0;
    TcpCall* call = nullptr;
  };
  using BackwardDone = std::function<void(Result<xdr::Decoder>)>;

  void on_ready(std::uint32_t events) override;
  void on_buffer_available() override { resume_.schedule(); }
  void receive();
  ssize_t read(std::span<std::byte> into);
  /// Bytes that the next step needs, or no room for them.
  std::span<std::byte> wanted();
  void take(std::size_t bytes);
  void end_of_fragment();
  void end_of_record();
  void take_reply(std::span<const std::byte> message);
  void send_soon(std::size_t length);
  void flush();
  std::vector<iovec> pieces_to_send() const;
  void took(std::size_t bytes);
  static std::size_t advance(Sending& sending, std::size_t bytes);
  void end();
  void let_go();

  Core& core_;
  TcpCalls& pool_;
  TcpConnectionOwner& owner_;
  const std::uint64_t id_;
  std::string client_;
  net::StreamCounters stream_counters_;
  std::unique_ptr<net::TcpStream> stream_;
  IntrusiveList<TcpCall> calls_;

  std::array<std::byte, kStage> stage_;  ///< received, and not yet looked at
  std::size_t staged_first_ = 0;
  std::size_t staged_end_ = 0;
  bool drained_ = false;  ///< the last read brought less than it had room for
  std::array<std::byte, kRecordMarkBytes> mark_{};
  std::size_t mark_have_ = 0;
  std::size_t fragment_left_ = 0;
  bool last_fragment_ = false;
  Buffer record_;
  std::size_t record_have_ = 0;

  std::deque<Sending> sending_;
  bool watching_write_ = false;
  std::map<std::uint32_t, BackwardDone> callbacks_;
  std::uint32_t last_xid_ = 0;
  bool closing_ = false;
  Deferred resume_;
  Deferred turn_;
  Deferred end_soon_;
};

/// Accepts TCP connections on one address. Stops when destroyed.
class TcpListener final : private FdHandler {
 public:
  using OnSocket = std::function<void(UniqueFd)>;

  static Result<std::unique_ptr<TcpListener>> create(Reactor& reactor, const net::Address& address,
                                                     OnSocket on_socket);
  ~TcpListener() override { reactor_.unwatch(fd_.get()); }
  /// With the port the system chose, if 0 was asked.
  net::Address address() const { return net::local_address(fd_.get()); }

 private:
  TcpListener(Reactor& reactor, UniqueFd fd, OnSocket on_socket)
      : reactor_(reactor),
        fd_(std::move(fd)),
        on_socket_(std::move(on_socket)),
        resume_(reactor, [this] { resume(); }) {}
  void on_ready(std::uint32_t events) override;
  void pause();
  void resume();

  Reactor& reactor_;
  UniqueFd fd_;
  OnSocket on_socket_;
  Timer resume_;
};

}  // namespace nfsrdma::responder
