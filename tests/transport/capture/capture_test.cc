// A captured dialogue dissects in tshark as what it is, with no malformed mark.
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "tests/transport/fabric/fabric_fixture.h"
#include "transport/capture/sink.h"

namespace nfsrdma::fabric::testing {
namespace {

bool have_tshark() { return std::system("tshark --version >/dev/null 2>&1") == 0; }

std::string output_of(const std::string& command) {
  struct Close {
    void operator()(std::FILE* pipe) const { ::pclose(pipe); }
  };
  const std::unique_ptr<std::FILE, Close> pipe(::popen(command.c_str(), "r"));
  std::string output;
  std::array<char, 4096> part;
  while (const std::size_t got = std::fread(part.data(), 1, part.size(), pipe.get())) {
    output.append(part.data(), got);
  }
  return output;
}

void put32(Bytes& out, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8)
    out.push_back(static_cast<std::byte>(value >> shift));
}

/// RPC-over-RDMA version 1, RDMA_MSG without chunks, then an RPC message.
Bytes rdma_message(std::initializer_list<std::uint32_t> rpc) {
  constexpr std::uint32_t xid = 0x01020304;
  Bytes out;
  for (std::uint32_t word : {xid, 1u, 32u, 0u, 0u, 0u, 0u, xid}) put32(out, word);
  for (std::uint32_t word : rpc) put32(out, word);
  return out;
}

/// NFS version 4, procedure NULL, without credentials.
Bytes null_call() { return rdma_message({0, 2, 100003, 4, 0, 0, 0, 0, 0}); }
Bytes null_reply() { return rdma_message({1, 0, 0, 0, 0}); }

class CaptureTest : public FabricTest {
 protected:
  CaptureTest() {
    std::string name = ::testing::TempDir() + "iwarp-capture-XXXXXX";
    const int fd = ::mkstemp(name.data());
    EXPECT_GE(fd, 0);
    ::close(fd);
    path_ = name;
    auto made = capture::Sink::create(path_);
    EXPECT_TRUE(made) << made.error().message();
    sink_ = std::move(*made);
  }
  ~CaptureTest() override { std::filesystem::remove(path_); }

  /// Every kind of message once, both ways.
  void run_dialogue();
  std::string dissect(const std::string& tshark_options) {
    return output_of("tshark -n -r " + path_ + " " + tshark_options + " 2>/dev/null");
  }
  void expect_dissection();

  std::string path_;
  std::unique_ptr<capture::Sink> sink_;
};

void CaptureTest::run_dialogue() {
  connect();
  Bytes sink(100'000);
  Bytes source = pattern(50'001);
  Bytes fetched(source.size());
  const Bytes data = pattern(sink.size());
  Lease written;
  Lease read;
  ASSERT_TRUE(client.endpoint->prepare(written, sink, Access::remote_write));
  ASSERT_TRUE(client.endpoint->prepare(read, source, Access::remote_read));
  Lease* const leases[] = {&written, &read};
  const Bytes call = null_call();
  const Bytes reply = null_reply();
  ASSERT_TRUE(client.send(call, leases));
  server().on_message = [&](const End::Message&) {
    ASSERT_TRUE(server().endpoint->post_read(fetched, read.segment, nullptr));
  };
  ASSERT_TRUE(loop.until([&] { return !server().reads_done.empty(); }));
  const std::span<const std::byte> pieces[] = {data};
  ASSERT_TRUE(server().endpoint->post_write(pieces, written.segment));
  ASSERT_TRUE(server().send(reply, {}, written.segment.handle));
  ASSERT_TRUE(loop.until([&] { return !client.messages.empty(); }));
  // An RDMA Write to what was invalidated just now: the client answers with a Terminate.
  ASSERT_TRUE(server().endpoint->post_write(pieces, written.segment));
  ASSERT_TRUE(loop.until([&] { return client.down && server().down; }));
}

void CaptureTest::expect_dissection() {
  client.endpoint.reset();
  acceptor.ends.clear();
  const std::string text = dissect("-V -o tcp.check_checksum:TRUE");
  for (const char* part :
       {"Request frame header", "Reply frame header", "OpCode: Send (0x3)",
        "OpCode: Read Request (0x1)", "OpCode: Read Response (0x2)", "OpCode: Write (0x0)",
        "OpCode: Send with Invalidate (0x4)", "OpCode: Terminate (0x7)", "RPC over RDMA",
        "Remote Procedure Call, Type:Call", "Remote Procedure Call, Type:Reply",
        "Network File System"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part;
  }
  for (const char* complaint :
       {"Malformed", "Bad CRC32", "[Bad]", "incorrect", "[TCP Analysis Flags]"}) {
    EXPECT_EQ(text.find(complaint), std::string::npos) << complaint;
  }
}

TEST_P(CaptureTest, TheInitiatorsSideDissects) {
  if (!have_tshark()) GTEST_SKIP() << "tshark is not installed";
  options.capture = sink_.get();
  run_dialogue();
  expect_dissection();
}

TEST_P(CaptureTest, TheRespondersSideDissects) {
  if (!have_tshark()) GTEST_SKIP() << "tshark is not installed";
  acceptor.options.capture = sink_.get();
  run_dialogue();
  expect_dissection();
}

TEST_P(CaptureTest, CountsPacketsAsTsharkDoes) {
  if (!have_tshark()) GTEST_SKIP() << "tshark is not installed";
  options.capture = sink_.get();
  run_dialogue();
  client.endpoint.reset();
  sink_->flush();
  const std::string last = dissect("-T fields -e frame.number | tail -n 1");
  EXPECT_EQ(last, std::to_string(sink_->packets()) + "\n");
}

TEST(CaptureFile, APathThatCannotBeCreatedIsAnError) {
  auto made = capture::Sink::create("/nowhere/capture.pcapng");
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message().find("/nowhere/capture.pcapng"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Providers, CaptureTest,
                         ::testing::Values(Provider{"iwarp4", make_listening_iwarp_fabric,
                                                    "127.0.0.1"},
                                           Provider{"iwarp6", make_listening_iwarp_fabric, "::1"}),
                         provider_name);

}  // namespace
}  // namespace nfsrdma::fabric::testing
