// Between client and server: TCP connections that pass through it, byte by byte.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <span>
#include <vector>

#include "transport/base/reactor.h"
#include "transport/base/unique_fd.h"
#include "transport/net/address.h"

namespace nfsrdma::hostile {

class Wire;

/// What is done with the bytes of one connection. Called on the reactor's thread.
class Conversation {
 public:
  virtual ~Conversation() = default;
  virtual void from_client(std::span<const std::byte> bytes) = 0;
  virtual void from_server(std::span<const std::byte> bytes) = 0;
};

/// One connection: a socket to each side. What cannot be sent yet waits.
class Wire final {
 public:
  Wire(Reactor& reactor, UniqueFd client, UniqueFd server);

  void to_client(std::span<const std::byte> bytes) { client_.send(bytes); }
  void to_server(std::span<const std::byte> bytes) { server_.send(bytes); }
  /// Ends what goes to the client, after all that was sent to it.
  void finish_client() { client_.finish(); }
  /// Ends both sides at once, without a word.
  void reset();
  bool over() const { return client_.ended() && server_.ended(); }

  std::unique_ptr<Conversation> conversation;

 private:
  /// One of the two sockets.
  class Side final : public FdHandler {
   public:
    Side(Reactor& reactor, UniqueFd socket, Wire& wire, bool is_client);
    ~Side() override { end(); }
    void send(std::span<const std::byte> bytes);
    void finish();
    void reset();
    void end();
    bool ended() const { return !socket_; }

   private:
    void on_ready(std::uint32_t events) override;
    void flush();
    void interest();

    Reactor& reactor_;
    UniqueFd socket_;
    Wire& wire_;
    const bool is_client_;
    std::vector<std::byte> waiting_;
    std::size_t sent_ = 0;  ///< of what waits
    bool finishing_ = false;
    bool heard_all_ = false;  ///< the other end sends nothing more
  };

  void heard(bool client, std::span<const std::byte> bytes);
  void heard_all(bool client);

  Side client_;
  Side server_;
};

/// Listens where the client connects to, and connects to the server.
class Relay final : public FdHandler {
 public:
  using Begin = std::function<std::unique_ptr<Conversation>(Wire&)>;

  /// `begin` is called for each connection.
  Relay(Reactor& reactor, const net::Address& server, Begin begin);
  /// The same on a socket that listens already.
  Relay(Reactor& reactor, UniqueFd listening, const net::Address& server, Begin begin);
  ~Relay() override;

  net::Address address() const;
  /// Ends all connections without a word.
  void reset_all();

 private:
  void on_ready(std::uint32_t events) override;

  Reactor& reactor_;
  const net::Address server_;
  Begin begin_;
  UniqueFd listening_;
  std::list<Wire> wires_;
};

}  // namespace nfsrdma::hostile
