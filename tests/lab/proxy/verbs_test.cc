// A proxy whose ends are RDMA devices, in whose place iWARP stands that takes registered memory
// only, between a script and a responder.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/lab/proxy/proxy.h"
#include "tests/lab/script/runner.h"
#include "tests/lab/wire/stand_in.h"
#include "tests/responder/testing.h"

namespace nfsrdma::lab::proxy {
namespace {

constexpr Duration kPatience = std::chrono::seconds(30);

responder::ServerOptions with_tcp() {
  responder::ServerOptions options;
  options.tcp_port = 0;
  return options;
}

class VerbsProxyTest : public ::testing::Test {
 protected:
  /// "holds", or what is said of a script that speaks to a proxy with these ends.
  std::string run(Carrier client, Carrier server, const std::string& text) {
    const auto script = script::read_script(text);
    if (!script) return script.error().detail;
    std::filesystem::remove(responder_.directory() + "/f");
    Network network(testing::stand_in());
    ProxyOptions options;
    options.listen = net::resolve("127.0.0.1", 0, AF_INET).value().front();
    options.listen_carrier = client;
    options.server_carrier = server;
    options.server = server == Carrier::tcp ? responder_.tcp_address() : responder_.address();
    options.verbs = testing::stand_in();
    options.client_capture = captured("client");
    options.server_capture = captured("server");
    auto proxy = Proxy::create(network.reactor(), options);
    if (!proxy) return proxy.error().message();
    script::RunnerOptions runner_options;
    runner_options.carrier = client == Carrier::tcp ? "tcp" : "verbs";
    runner_options.server = (*proxy)->address().text();
    const auto done = script::Runner(network, runner_options).run(*script);
    bool closed = false;
    (*proxy)->close([&] { closed = true; });
    if (!network.until(kPatience, [&] { return closed; })) return "the proxy does not close";
    return done ? "holds" : done.error().detail;
  }
  std::string captured(const std::string& side) const {
    return responder_.directory() + "/" + side + ".pcapng";
  }
  std::string content(const std::string& name) const {
    std::ifstream file(responder_.directory() + "/" + name);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }

  responder::TestResponder responder_{with_tcp()};
};

constexpr const char* kOpen = R"(
  connect
  session
  compound slot=0 { PUTROOTFH OPEN {share_access=OPEN4_SHARE_ACCESS_BOTH
    owner={owner="lab" clientid=$client.eir_clientid}
    openhow={opentype=OPEN4_CREATE how={mode=UNCHECKED4}} claim={claim=CLAIM_NULL file="f"}} GETFH } -> o
)";

// Data in the message, in a Read chunk, in the chunk of a Long Call; results in the message, in a
// Write chunk, in a Reply chunk.
const std::string kWithChunks = std::string(kOpen) + R"(
  compound slot=0 { PUTFH $o.GETFH.resok4.object
    WRITE {stateid=$o.OPEN.resok4.stateid stable=FILE_SYNC4 data="0123456789"} }
  expect reply.WRITE.resok4.count = 10
  send slot=0 read=[payload] { PUTFH $o.GETFH.resok4.object
    WRITE {stateid=$o.OPEN.resok4.stateid offset=10 data={length=8191 fill=0x41}} GETATTR [size] }
  expect reply.GETATTR.resok4.obj_attributes.attr_vals = 0x0000000000002009
  send slot=0 read=[pos=0 seg 512 seg 512] { PUTFH $o.GETFH.resok4.object
    WRITE {stateid=$o.OPEN.resok4.stateid offset=8201 data="abc"} }
  expect reply.WRITE.resok4.count = 3
  compound slot=1 { PUTFH $o.GETFH.resok4.object READ {count=5} }
  expect reply.READ.resok4.data = "01234"
  send slot=1 write=[[seg 64K]] { PUTFH $o.GETFH.resok4.object READ {offset=8 count=64K} }
  expect reply.write.1.length = 8196
  send slot=1 reply=[seg 64K] { PUTFH $o.GETFH.resok4.object READ {offset=8 count=8001} }
  expect reply.READ.status = NFS4_OK
)";

TEST_F(VerbsProxyTest, BothEndsTouchRegisteredMemoryOnly) {
  EXPECT_EQ(run(Carrier::verbs, Carrier::verbs, kWithChunks), "holds");
  EXPECT_EQ(content("f"), "0123456789" + std::string(8191, 'A') + "abc");
  for (const char* side : {"client", "server"}) {
    EXPECT_GT(std::filesystem::file_size(captured(side)), 8191) << side;
  }
}

TEST_F(VerbsProxyTest, OneEndIsADeviceAndTheOtherIsNot) {
  EXPECT_EQ(run(Carrier::verbs, Carrier::iwarp, kWithChunks), "holds");
  EXPECT_EQ(run(Carrier::verbs, Carrier::tcp, kWithChunks), "holds");
  const std::string in_messages = std::string(kOpen) + R"(
    compound slot=0 { PUTFH $o.GETFH.resok4.object
      WRITE {stateid=$o.OPEN.resok4.stateid data={length=100000 fill=0x42}} }
    expect reply.WRITE.resok4.count = 100000
    compound slot=1 { PUTFH $o.GETFH.resok4.object READ {offset=99990 count=20} }
    expect reply.READ.resok4.data = "BBBBBBBBBB"
  )";
  EXPECT_EQ(run(Carrier::tcp, Carrier::verbs, in_messages), "holds");
}

}  // namespace
}  // namespace nfsrdma::lab::proxy
