// Scripts through the fabric interface as through a device, in whose place iWARP stands, and a
// responder in this process.
#include <gtest/gtest.h>

#include <fstream>

#include "tests/lab/script/runner.h"
#include "tests/lab/subcommand.h"
#include "tests/lab/wire/stand_in.h"
#include "tests/responder/testing.h"

namespace nfsrdma::lab::script {
namespace {

class VerbsScriptTest : public ::testing::Test {
 protected:
  /// "holds", or the exit status and what is said.
  std::string run(std::string_view text, bool invalidation = true) {
    const auto script = read_script(text);
    if (!script) return script.error().detail;
    Network network(testing::stand_in(invalidation));
    RunnerOptions options;
    options.carrier = "verbs";
    options.server = responder_.address().text();
    Runner runner(network, options);
    const auto done = runner.run(*script);
    if (done) return "holds";
    return std::to_string(exit_status(done.error())) + " " + done.error().detail;
  }

  responder::TestResponder responder_;
};

// Segments that share a slot's size, some of no byte, and one larger than a pool of small ones.
TEST_F(VerbsScriptTest, EverythingSentAndExposedIsRegisteredMemory) {
  std::ofstream(responder_.directory() + "/f") << "hello, world";
  EXPECT_EQ(run(R"(
    connect private-data={R=1 send=4096 recv=4096}
    session
    send slot=0 write=[[seg 65536] [seg 4 seg 4096]] reply=[seg 3M] {
      PUTROOTFH LOOKUP "f" READ {count=5} READ {offset=1 count=8191} }
    expect reply.invalidated
    expect reply.write.1.length = 5
    expect reply.write.2.length = 11
    expect reply.READ#2.resok4.data = "ello, world"
    send slot=0 write=[[seg 0]] { PUTROOTFH GETFH }
    expect reply.GETFH.status = NFS4_OK
    send slot=0 read=[pos=0 seg 64 seg 512] { PUTROOTFH GETFH }
    expect reply.GETFH.status = NFS4_OK
    send vers=9 body={length=70000 fill=0}
    expect disconnect
    reconnect
    send raw 00000042 00000001 00000010 00000000 00000007 00000000 00000000
    expect reply.error = ERR_CHUNK
    disconnect reset
    expect server
  )"),
            "holds");
}

TEST_F(VerbsScriptTest, MemoryOfAnEarlierConnectionIsClearedForTheNext) {
  std::ofstream(responder_.directory() + "/f") << std::string(4096, 'x');
  EXPECT_EQ(run(R"(
    connect
    session
    send slot=0 write=[[seg 4K]] { PUTROOTFH LOOKUP "f" READ {count=4K} }
    expect reply.write.1.length = 4096
    reconnect
    send slot=0 write=[[seg 4K]] { PUTROOTFH LOOKUP "f" READ {count=2} }
    expect reply.READ.resok4.data = "xx"
  )"),
            "holds");
  Network network(testing::stand_in());
  Memory& memory = network.provider(Carrier::verbs).memory;
  const std::byte* place = nullptr;
  {
    const auto first = memory.acquire(100);
    ASSERT_TRUE(first);
    place = first->data();
    std::ranges::fill(first->bytes(), std::byte{1});
  }
  const auto second = memory.acquire(200);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->data(), place);
  EXPECT_TRUE(
      std::ranges::all_of(second->first(200), [](std::byte b) { return b == std::byte{}; }));
}

TEST_F(VerbsScriptTest, WhatLiesBelowMessagesIsNotApplicable) {
  EXPECT_EQ(
      run("connect\nexpect alive\nconnect socket"),
      "4 3: not over verbs: MPA and the bytes of its stream are the device's, if it has them");
  EXPECT_EQ(run("connect\ndisconnect after-read 1"),
            "4 2: not over verbs: no program sees what the peer reads and writes by RDMA");
  EXPECT_EQ(run("connect private-data={R=1}", false),
            "4 1: not over verbs: this device has no keys that a peer may invalidate (R=1)");
  EXPECT_EQ(run("connect\nexpect alive", false), "holds");
  EXPECT_EQ(std::to_string(kExitInapplicable), "4");
}

}  // namespace
}  // namespace nfsrdma::lab::script
