// A responder with a scripted service, and hand-made calls to it, on one reactor and one thread.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/responder/fabric/listening_fabric.h"
#include "tests/responder/raw_requester.h"
#include "tests/responder/service.h"
#include "tests/responder/transport/responder.h"
#include "transport/base/reactor.h"
#include "transport/rpc/message.h"

namespace nfsrdma::responder {

/// Calls the test's function with each call; without one, answers with no results.
class ScriptedService final : public Service {
 public:
  void handle(ServerCall& call) override {
    ++calls;
    if (on_call) return on_call(call);
    call.reply(rpc::AcceptStat::success);
  }
  void on_connection_closed(Connection&) override { ++closed; }

  std::function<void(ServerCall&)> on_call;
  int calls = 0;
  int closed = 0;
};

/// A reply taken apart. The decoder stands at the results.
struct ParsedReply {
  Bytes bytes;
  rdma::Header header;
  rdma::HeaderFault fault = rdma::HeaderFault::none;
  std::span<const std::byte> message;  ///< the inline RPC message
  std::optional<std::uint32_t> invalidated;

  /// Decodes the RPC header; reports the results' decoder or the RPC error.
  Result<xdr::Decoder> results(std::span<const std::byte> from) const;
  Result<xdr::Decoder> results() const { return results(message); }
};

class ResponderRig : public ::testing::Test {
 protected:
  ResponderRig();
  ~ResponderRig() override;
  /// Ends all connections while the test's own members, which callbacks may use, are still there.
  void TearDown() override;

  /// Starts the responder; called by the first connect() with these defaults.
  void start(const ResponderConfig& config = {});
  /// A connected requester that announces the sizes; nullopt: no private data at all.
  RawRequester& connect(std::optional<rdma::PrivateData> data);
  RawRequester& connect() { return connect(sizes(4096, 4096)); }
  static rdma::PrivateData sizes(std::size_t send, std::size_t receive, bool invalidation = false);

  /// Runs the reactor until `condition` holds; fails the test when it never does.
  void run_until(const std::function<bool()>& condition);
  /// Runs the reactor until nothing more is moving: proves that no answer comes. It makes a NULL
  /// call on `requester`, whose reply comes after all others.
  void expect_silence(RawRequester& requester);

  /// Sends and waits for the answer.
  ParsedReply exchange(RawRequester& requester, std::span<const std::byte> message);
  ParsedReply next_reply(RawRequester& requester);
  /// The answer must be RDMA_ERROR with this code and the XID.
  void expect_error(RawRequester& requester, std::span<const std::byte> message,
                    rdma::rpc_rdma_errcode code);

  /// RPC header of a COMPOUND call (or another procedure), then `arguments`.
  static Bytes rpc_call(std::uint32_t xid, std::span<const std::byte> arguments = {},
                        std::uint32_t procedure = 1);
  /// A transport header of RDMA_MSG with credits asked for; add chunks as wanted.
  static rdma::Header message_header(std::uint32_t xid, std::uint32_t credit = 16);
  static Bytes assemble(const rdma::Header& header, std::span<const std::byte> message = {});
  /// A whole inline COMPOUND call without arguments.
  static Bytes plain_call(std::uint32_t xid) {
    return assemble(message_header(xid), rpc_call(xid));
  }
  static Bytes words(std::initializer_list<std::uint32_t> values);
  static Bytes pattern(std::size_t size, unsigned seed = 1);
  static std::uint64_t value(const Counter& counter) { return counter.value(); }
  const Counters& counters() const { return responder->counters(); }

  std::unique_ptr<Reactor> reactor;
  ResponderPools pools;
  std::unique_ptr<fabric::ListeningFabric> fabric;
  ScriptedService service;
  std::unique_ptr<Responder> responder;
  fabric::Address address;
  std::vector<std::unique_ptr<RawRequester>> requesters;
};

}  // namespace nfsrdma::responder
