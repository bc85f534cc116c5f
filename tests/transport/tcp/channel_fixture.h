// A channel of transport/tcp and the raw server behind it, in one reactor.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "client/compound/read_locator.h"
#include "tests/transport/tcp/raw_server.h"
#include "transport/base/log.h"
#include "transport/rpc/message.h"
#include "transport/tcp/channel_factory.h"

namespace nfsrdma::test {

class TcpChannel : public testing::Test, protected rpc::CallObserver {
 protected:
  static constexpr std::size_t kLarge = 1 << 20;

  void SetUp() override {
    log::set_level(log::Level::off);
    if (!reactor_) reactor_ = make_epoll_reactor();
    heads_ = std::move(*BufferPool::create(8192, 32));
    data_ = std::move(*BufferPool::create(4 * kLarge, 4));
    large_ = std::move(*BufferPool::create(kLarge, 2));
    make_factory();
  }
  void TearDown() override {
    if (channel_ && observer_.downs == 0) disconnect();
    channel_.reset();
    while (reactor_->run_once(Duration::zero())) {
    }
  }
  void make_factory() {
    factory_ =
        std::move(*tcp::ChannelFactory::create(*reactor_, server_.address(), options_, *large_));
  }
  void connect() {
    channel_.reset();
    observer_.ups = observer_.closings = observer_.downs = 0;
    channel_ = std::move(*factory_->connect(observer_));
    run_until([&] { return observer_.ups + observer_.downs > 0; });
    ASSERT_EQ(observer_.ups, 1);
    run_until([&] { return server_.accept(); });
  }
  void disconnect() {
    channel_->close(Error::local(0, "end of test"));
    run_until([&] { return observer_.downs == 1; });
  }
  template <class Condition>
  void run_until(Condition condition) {
    bool holds = condition();
    for (int turns = 0; turns < 20000 && !holds; ++turns) {
      reactor_->run_once(std::chrono::milliseconds(1));
      holds = condition();
    }
    ASSERT_TRUE(holds);
  }
  /// Until the server has `count` messages.
  void await_messages(std::size_t count) {
    run_until([&] {
      server_.receive();
      return server_.messages.size() >= count;
    });
  }
  /// Handles what the kernel has for the client.
  void settle() {
    for (int i = 0; i < 50; ++i) reactor_->run_once(Duration::zero());
  }
  std::unique_ptr<rpc::Call> make_call(std::uint32_t xid) {
    auto call = std::make_unique<rpc::Call>(heads_->acquire());
    prepare(*call, xid);
    return call;
  }
  void prepare(rpc::Call& call, std::uint32_t xid) {
    call.reset(xid);
    rpc::Credential nobody;
    nobody.flavor = rpc::AuthFlavor::none;
    rpc::encode_call_header(call.encoder, xid, kTestProgram, 4, 1, nobody, {});
    call.max_reply = 256;
    call.observer = this;
  }
  std::unique_ptr<rpc::Call> make_read(std::uint32_t xid, std::span<std::byte> sink) {
    auto call = make_call(xid);
    call->result_sink = sink;
    call->locator = &client::kReadLocator;
    return call;
  }
  void submit(rpc::Call& call) { channel_->submit(call); }
  void on_call_done(rpc::Call&) override { ++done_; }
  std::uint64_t count(std::string_view name) { return counter(*channel_, name); }

  std::unique_ptr<Reactor> reactor_;
  std::unique_ptr<BufferPool> heads_;
  std::unique_ptr<BufferPool> data_;
  std::unique_ptr<BufferPool> large_;
  RawServer server_;
  tcp::Options options_;
  std::unique_ptr<tcp::ChannelFactory> factory_;
  Observer observer_;
  std::unique_ptr<rpc::Channel> channel_;
  int done_ = 0;
};

}  // namespace nfsrdma::test
