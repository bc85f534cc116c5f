// Two shards, each with its own thread and fabric, that share nothing but a capture file.
#include <filesystem>
#include <future>
#include <thread>

#include "tests/transport/fabric/fabric_fixture.h"
#include "transport/capture/sink.h"

namespace nfsrdma::fabric::testing {
namespace {

constexpr std::size_t kThreadRounds = 200;

void serve(capture::Sink& sink, std::promise<Address>& where) {
  Loop loop;
  const auto fabric = make_listening_iwarp_fabric(loop.reactor());
  const Bytes data = pattern(70'000);
  const Bytes reply = bytes_of("done");
  Acceptor acceptor;
  acceptor.options.capture = &sink;
  acceptor.on_accept = [&](End& end) {
    end.on_message = [&](const End::Message& message) {
      Segment to;
      ASSERT_EQ(message.data.size(), sizeof to);
      std::memcpy(&to, message.data.data(), sizeof to);
      const std::span<const std::byte> pieces[] = {data};
      ASSERT_TRUE(end.endpoint->post_write(pieces, to));
      ASSERT_TRUE(end.send(reply, {}, to.handle));
    };
  };
  const auto listener = fabric->listen(address_of("127.0.0.1"), acceptor);
  ASSERT_TRUE(listener);
  where.set_value((*listener)->address());
  ASSERT_TRUE(loop.until([&] { return !acceptor.ends.empty() && acceptor.ends[0]->down; }));
}

TEST(ThreadTest, ShardsDoNotDisturbEachOther) {
  const std::string path = ::testing::TempDir() + "iwarp-threads.pcapng";
  auto sink = capture::Sink::create(path);
  ASSERT_TRUE(sink);
  std::promise<Address> where;
  std::thread server([&] { serve(**sink, where); });

  Loop loop;
  const auto fabric = make_iwarp_fabric(loop.reactor());
  EndpointOptions options;
  options.capture = sink->get();
  End client;
  auto made = fabric->connect(where.get_future().get(), client, options);
  ASSERT_TRUE(made);
  client.endpoint = std::move(*made);
  client.post_all();
  ASSERT_TRUE(loop.until([&] { return client.established; }));
  Bytes memory(70'000);
  Bytes call(sizeof(Segment));
  for (std::size_t i = 0; i < kThreadRounds; ++i) {
    Lease lease;
    Lease* const leases[] = {&lease};
    std::fill(memory.begin(), memory.end(), std::byte{0});
    ASSERT_TRUE(client.endpoint->prepare(lease, memory, Access::remote_write));
    std::memcpy(call.data(), &lease.segment, sizeof lease.segment);
    ASSERT_TRUE(client.send(call, leases));
    ASSERT_TRUE(loop.until([&] { return client.messages.size() == i + 1; }));
    ASSERT_TRUE(client.endpoint->invalidate(lease));
    ASSERT_TRUE(memory == pattern(70'000)) << i;
  }
  client.endpoint->disconnect(Error::local(ECANCELED, "test"));
  ASSERT_TRUE(loop.until([&] { return client.down.has_value(); }));
  server.join();
  client.endpoint.reset();
  EXPECT_GT(std::filesystem::file_size(path), 2 * kThreadRounds * memory.size());
  sink->reset();
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace nfsrdma::fabric::testing
