// Two ends of a connection on one reactor, written against fabric.h alone: any provider that can
// connect to itself can run the tests that use it.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/responder/fabric/listening_fabric.h"
#include "tests/transport/fabric/registered_memory.h"
#include "transport/base/reactor.h"

namespace nfsrdma::fabric::testing {

using Bytes = std::vector<std::byte, TestAllocator<std::byte>>;

/// Bytes that differ at every place and from seed to seed.
Bytes pattern(std::size_t size, unsigned seed = 1);
Bytes bytes_of(std::string_view text);
std::string text_of(std::span<const std::byte> bytes);

/// Turns a reactor until a condition holds, or fails the test when that takes too long.
class Loop {
 public:
  explicit Loop(std::unique_ptr<Reactor> reactor = make_epoll_reactor())
      : reactor_(std::move(reactor)) {}
  Reactor& reactor() { return *reactor_; }
  ::testing::AssertionResult until(const std::function<bool()>& condition);
  /// Lets everything that is in flight on loopback happen.
  void settle();

 private:
  std::unique_ptr<Reactor> reactor_;
};

/// One end: owns its endpoint and receive buffers, records what it is told.
class End final : public EndpointHandler {
 public:
  struct Message {
    Bytes data;
    std::optional<std::uint32_t> invalidated;
  };

  explicit End(std::size_t receives = 16, std::size_t receive_size = 4096);
  ~End() override;

  void post_all();
  /// Sends a copy, which lives as long as this End.
  Result<void> send(std::span<const std::byte> data, std::span<Lease* const> leases = {},
                    std::optional<std::uint32_t> invalidate = {}, void* context = nullptr);
  std::uint64_t counter(std::string_view name) const;

  void on_established(const ConnectionInfo& info) override;
  void on_receive(ReceiveBuffer& buffer, std::size_t length,
                  std::optional<std::uint32_t> invalidated) override;
  void on_send_done(void* context) override { sends_done.push_back(context); }
  void on_invalidated(Lease& lease) override { invalidated.push_back(&lease); }
  void on_read_done(void* context) override { reads_done.push_back(context); }
  void on_disconnected(const Error& reason) override;

  std::unique_ptr<Endpoint> endpoint;
  std::vector<Message> messages;
  std::vector<void*> sends_done;
  std::vector<void*> reads_done;
  std::vector<Lease*> invalidated;
  std::vector<std::string> events;  ///< in order: "receive", "send done" ...
  std::optional<Error> down;
  int disconnects = 0;
  bool established = false;
  bool repost = true;
  Bytes peer_private_data;
  std::uint32_t ord = 0;
  std::uint32_t ird = 0;
  std::string description;
  std::function<void(const Message&)> on_message;

  bool all_receives_returned() const;

 private:
  struct Slot : ReceiveBuffer {
    Bytes storage;
  };
  std::vector<std::unique_ptr<Slot>> slots_;
  std::list<Bytes> sent_;
};

/// Accepts every connection, one End for each.
class Acceptor final : public ListenHandler {
 public:
  void on_connect_request(std::unique_ptr<ConnectRequest> request) override;

  EndpointOptions options;
  std::size_t receives = 16;
  std::size_t receive_size = 4096;
  std::optional<Bytes> reject_with;
  std::function<void(End&)> on_accept;
  std::vector<Bytes> private_data;
  std::vector<std::unique_ptr<End>> ends;
};

/// What tests that know fabric.h alone are run on. The factory is the test parameter.
struct Provider {
  std::string name;
  std::function<std::unique_ptr<ListeningFabric>(Reactor&)> make;
  std::string host;
  /// Private data arrives with its length, and a side that refuses something knows why. With
  /// devices the connection manager pads the one, and only the side that was refused is told.
  bool exact = true;
};
std::string provider_name(const ::testing::TestParamInfo<Provider>& info);
/// Those that the program was told to test.
std::vector<Provider> chosen_providers();

Address address_of(const std::string& host, std::uint16_t port = 0);

/// A listener and the means to connect to it.
class FabricTest : public ::testing::TestWithParam<Provider> {
 protected:
  explicit FabricTest(std::unique_ptr<Reactor> reactor = make_epoll_reactor());

  void listen();
  /// A connected pair: `client` and server().
  void connect();
  void connect(End& client);
  End& server() { return *acceptor.ends.back(); }
  /// Exposes memory of the client with a message.
  void expose(Lease& lease, std::span<std::byte> memory, Access access,
              std::span<const std::byte> message);
  /// Ends an exposure of the client's, however long that takes.
  void invalidate(Lease& lease);
  /// Whether keys end with the call that they were made for.
  bool keys_are_for_one_call() const { return client.endpoint->remote_invalidation_safe(); }
  /// What the server may invalidate with its answer.
  std::optional<std::uint32_t> invalidatable(const Lease& lease) const;
  static bool has_failed(const End& end, Fault fault);

  Loop loop;
  std::unique_ptr<ListeningFabric> fabric;
  Acceptor acceptor;
  std::unique_ptr<Listener> listener;
  EndpointOptions options;
  End client;
};

}  // namespace nfsrdma::fabric::testing
