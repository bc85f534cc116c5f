// What passes a provider's boundary becomes RoCEv2 that the lab and tshark read, seen from either
// side. iwarp stands in for a device: the recording knows fabric.h alone.
#include "tests/responder/fabric/recorded_listening_fabric.h"

#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "tests/lab/lint/linter.h"
#include "tests/transport/base/stopped_clock.h"
#include "tests/transport/fabric/fabric_fixture.h"
#include "transport/rdma/private_data.h"

namespace nfsrdma::recording {
namespace {

using namespace fabric;
using namespace fabric::testing;
using fabric::testing::End;

constexpr std::uint32_t kXid = 0x01020304;
constexpr std::size_t kWritten = 10'001;  // several packets, and no whole words
constexpr std::size_t kRead = 5'003;

capture::Sink* sink = nullptr;

std::unique_ptr<ListeningFabric> make_recorded(Reactor& reactor) {
  return std::make_unique<RecordedListeningFabric>(make_listening_iwarp_fabric(reactor), *sink);
}

/// Opens before the fixture makes the fabric.
struct File {
  File() {
    std::string name = ::testing::TempDir() + "roce-XXXXXX";
    ::close(::mkstemp(name.data()));
    path = name;
    auto made = capture::Sink::create(path);
    EXPECT_TRUE(made) << made.error().message();
    owned = std::move(*made);
    sink = owned.get();
  }
  ~File() { std::filesystem::remove(path); }
  std::string path;
  std::unique_ptr<capture::Sink> owned;
};

class RecordedFabricTest : protected File, public FabricTest {
 protected:
  using FabricTest::FabricTest;
  static Bytes message(const rdma::Header& header, std::initializer_list<std::uint32_t> rpc) {
    Bytes memory(512);
    xdr::Encoder out(memory);
    rdma::encode_header(out, header);
    for (const std::uint32_t word : rpc) out.u32(word);
    memory.resize(out.size());
    return memory;
  }
  /// A call with a Read chunk and a Write chunk, both used, and its answer.
  void run_call();
  void end() {
    client.endpoint.reset();
    acceptor.ends.clear();
    sink->flush();
  }
  std::string dissect(const std::string& how) {
    const std::string command = "tshark -n -r " + path + " " + how + " 2>/dev/null";
    std::FILE* pipe = ::popen(command.c_str(), "r");
    std::string text;
    for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) text += static_cast<char>(c);
    ::pclose(pipe);
    return text;
  }
};

void RecordedFabricTest::run_call() {
  const auto own = rdma::encode_private_data(
      {.remote_invalidation = true, .send_size = 4096, .receive_size = 4096});
  options.private_data = own;
  acceptor.options.private_data = own;
  connect();
  Bytes target(kWritten);
  Bytes source = pattern(kRead);
  Bytes fetched(kRead);
  const Bytes data = pattern(kWritten, 2);
  Lease written;
  Lease read;
  ASSERT_TRUE(client.endpoint->prepare(written, target, Access::remote_write));
  ASSERT_TRUE(client.endpoint->prepare(read, source, Access::remote_read));
  rdma::Header header;
  header.rdma_xid = kXid;
  header.rdma_credit = 1;
  // The message's end: a chunk at its Position alone is not known to be wrong of NULL.
  header.chunks.add_read(40, read.segment);
  header.chunks.add_write()->add(written.segment);
  Lease* const leases[] = {&written, &read};
  ASSERT_TRUE(client.send(message(header, {kXid, 0, 2, 100003, 4, 0, 0, 0, 0, 0}), leases));
  server().on_message = [&](const End::Message&) {
    ASSERT_TRUE(server().endpoint->post_read(fetched, read.segment, nullptr));
  };
  ASSERT_TRUE(loop.until([&] { return !server().reads_done.empty(); }));
  EXPECT_EQ(fetched, source);
  const std::span<const std::byte> pieces[] = {std::span(data).first(7),
                                               std::span(data).subspan(7)};
  ASSERT_TRUE(server().endpoint->post_write(pieces, written.segment));
  rdma::Header reply;
  reply.rdma_xid = kXid;
  reply.rdma_credit = 1;
  reply.chunks.add_write()->add(written.segment);
  ASSERT_TRUE(server().send(message(reply, {kXid, 1, 0, 0, 0, 0}), {}, written.segment.handle));
  ASSERT_TRUE(loop.until([&] { return !client.messages.empty(); }));
  EXPECT_EQ(target, data);
  client.endpoint->invalidate(written);
  client.endpoint->invalidate(read);
  loop.settle();
}

TEST_P(RecordedFabricTest, TheLabSeesTheSameFromEitherSide) {
  run_call();
  end();
  auto file = lab::PacketFile::open(path);
  ASSERT_TRUE(file) << file.error().message();
  lab::Linter linter;
  const auto summary = lab::read_capture(**file, linter);
  EXPECT_EQ(summary.connections, 2u);
  for (const auto& connection : linter.connections()) {
    EXPECT_EQ(connection->messages, 2u);
    EXPECT_FALSE(connection->lossy);
    EXPECT_EQ(connection->info.lower_layer, lab::LowerLayer::roce);
  }
  for (const auto& finding : linter.findings().all()) {
    // The chunk stands where NULL has no argument.
    if (finding.note) continue;
    ADD_FAILURE() << finding.rule.where << ": " << finding.seen;
  }
}

TEST_P(RecordedFabricTest, TsharkDissectsIt) {
  if (std::system("tshark --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "no tshark";
  run_call();
  end();
  const std::string text = dissect("-V -o udp.check_checksum:TRUE");
  for (const char* part : {"(RC) - SEND Only", "(RC) - RDMA WRITE First", "(RC) - RDMA WRITE Last",
                           "(RC) - RDMA READ Request", "(RC) - RDMA READ response Last",
                           "(RC) - SEND Only with Invalidate", "RPC over RDMA"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part;
  }
  for (const char* complaint : {"Malformed", "[Bad]", "incorrect"}) {
    EXPECT_EQ(text.find(complaint), std::string::npos) << complaint;
  }
  const std::string comments = dissect("-T fields -e frame.comment");
  EXPECT_NE(comments.find("was invalidated by the peer"), std::string::npos);
  EXPECT_NE(comments.find("not seen: written by the peer"), std::string::npos);
  EXPECT_NE(comments.find("not seen: read by the peer"), std::string::npos);
}

class RecordedPaceTest : public RecordedFabricTest {
 protected:
  RecordedPaceTest() : RecordedFabricTest(std::make_unique<testing_support::StoppedClock>()) {}
};

TEST_P(RecordedPaceTest, SomebodyWhoWaitsForAnUnhurriedMessageHasItSent) {
  connect();
  const Bytes data = message({}, {kXid});
  const std::span<const std::byte> pieces[] = {data};
  SendWork work;
  work.pieces = pieces;
  work.pace = net::Pace::unhurried;
  ASSERT_TRUE(client.endpoint->post_send(work));
  loop.settle();
  EXPECT_TRUE(server().messages.empty());
  client.endpoint->hurry();
  EXPECT_TRUE(loop.until([&] { return !server().messages.empty(); }));
}

const auto kProviders = ::testing::Values(Provider{"iwarp4", make_recorded, "127.0.0.1"},
                                          Provider{"iwarp6", make_recorded, "::1"});
INSTANTIATE_TEST_SUITE_P(Providers, RecordedFabricTest, kProviders, provider_name);
INSTANTIATE_TEST_SUITE_P(Providers, RecordedPaceTest, kProviders, provider_name);

}  // namespace
}  // namespace nfsrdma::recording
