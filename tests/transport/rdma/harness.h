// One connection under test: virtual time, a fake provider, pools, and a server made of helpers
// that build replies byte by byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tests/support/virtual_reactor.h"
#include "tests/transport/rdma/fake_fabric.h"
#include "transport/rdma/channel_factory.h"
#include "transport/rdma/fault.h"
#include "transport/rdma/header.h"
#include "transport/rdma/private_data.h"
#include "transport/rpc/call.h"
#include "transport/rpc/channel.h"
#include "transport/rpc/connection_keeper.h"

namespace nfsrdma::test {

/// Bytes of the RPC header of a test call: AUTH_NONE.
inline constexpr std::size_t kRpcCallHeader = 40;
inline constexpr std::uint32_t kTestProgram = 100003;

/// A message as the server sees it.
struct Seen {
  rdma::Header header;
  rdma::HeaderFault fault = rdma::HeaderFault::none;
  Bytes payload;
};
std::unique_ptr<Seen> parse(const Bytes& message);

Bytes encode(const rdma::Header& header, std::span<const std::byte> payload = {});
/// An accepted, successful RPC reply with these results.
Bytes rpc_reply(std::uint32_t xid, std::span<const std::byte> results = {});
Bytes rpc_call(std::uint32_t xid, std::uint32_t rpc_version = 2);
/// `count` bytes 0, 1, 2 ... starting at `first`.
Bytes pattern(std::size_t count, unsigned first = 0);
Bytes words(std::initializer_list<std::uint32_t> values);
/// The value of a counter or gauge; fails the test when there is none of that name.
std::uint64_t counter(const rpc::Channel& channel, std::string_view name);
std::uint64_t counter(const rpc::ConnectionKeeper& keeper, std::string_view name);

class Observer final : public rpc::ChannelObserver {
 public:
  void on_channel_up() override { ++ups; }
  void on_channel_closing(const Error&) override { ++closings; }
  void on_backward_call(rpc::BackwardCall& call) override {
    ++backward_calls;
    if (on_callback) on_callback(call);
  }
  void on_channel_down(const Error& reason) override {
    ++downs;
    down_reason = reason;
  }

  int ups = 0;
  int closings = 0;
  int downs = 0;
  int backward_calls = 0;
  std::optional<Error> down_reason;
  std::function<void(rpc::BackwardCall&)> on_callback;
};

class Harness {
 public:
  struct Setup {
    rdma::Options options;
    /// What the server says of itself; nothing: no private data at all.
    std::optional<rdma::PrivateData> server =
        rdma::PrivateData{.remote_invalidation = true, .send_size = 4096, .receive_size = 4096};
    std::size_t reply_slots = 16;
    bool base_version_two = false;  ///< see of_version()

    /// `base` for a version: 2 is asked for, granted one credit like a connection of version 1, and
    /// has no properties. The same tests then hold for both.
    static Setup of_version(std::uint32_t version) { return of_version(version, Setup{}); }
    static Setup of_version(std::uint32_t version, Setup base);
  };

  Harness() : Harness(Setup{}) {}
  explicit Harness(Setup setup);
  ~Harness();

  /// Makes a channel and lets it come up.
  void connect();
  /// Makes a channel, and lets version 2 begin: its first message is sent(0).
  void begin();
  /// A good reply to the first message.
  void agree_on_version_two(std::uint32_t credit);
  /// Ends the channel, as its owner does after on_channel_down.
  void drop_channel();
  FakeEndpoint& peer() { return *fabric.endpoint(); }
  void settle() { reactor.settle(); }
  /// Delivers a message from the server and runs everything that follows.
  void deliver(Bytes message, std::optional<std::uint32_t> invalidated = {});
  /// Header of a reply to what was sent as message `index`, with a grant; lists are returned with
  /// nothing written.
  rdma::Header& reply_header(std::size_t index, std::uint32_t credit = 32);
  /// A plain good reply to message `index`.
  void answer(std::size_t index, std::uint32_t credit = 32);

  VirtualReactor reactor;
  std::unique_ptr<BufferPool> heads;
  std::unique_ptr<BufferPool> data;
  std::unique_ptr<BufferPool> replies;
  std::unique_ptr<rdma::ChannelFactory> factory;
  FakeFabric fabric;
  Observer observer;
  std::unique_ptr<rpc::Channel> channel;

 private:
  rdma::Header scratch_;
  bool base_version_two_ = false;
};

/// A call and what became of it.
class TestCall final : private rpc::CallObserver {
 public:
  /// The RPC message without DDP-eligible items has `rpc_bytes` bytes, at least kRpcCallHeader.
  TestCall(Harness& harness, std::uint32_t xid, std::size_t rpc_bytes = kRpcCallHeader);
  /// Ends the connection if the call is still open.
  ~TestCall();

  void submit() { submit_to(*harness_.channel); }
  void submit_to(rpc::Channel& channel);
  bool done() const { return done_ > 0; }
  int done_count() const { return done_; }
  bool ok() const { return done() && call.reply->has_value(); }
  const Error& error() const { return call.reply->error(); }
  xdr::Decoder& results() { return (*call.reply)->results; }

  rpc::Call call;
  std::function<void()> on_done;

 private:
  void on_call_done(rpc::Call& ended) override;

  Harness& harness_;
  int done_ = 0;
  bool open_ = false;
};

}  // namespace nfsrdma::test
