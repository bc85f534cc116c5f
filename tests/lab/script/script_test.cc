// Scripts against a responder in this process.
#include <gtest/gtest.h>

#include <fstream>

#include "tests/lab/script/compare.h"
#include "tests/lab/script/runner.h"
#include "tests/lab/script/server.h"
#include "tests/lab/subcommand.h"
#include "tests/responder/testing.h"

namespace nfsrdma::lab::script {
namespace {

std::string reading(std::string_view text) {
  const auto script = read_script(text);
  return script ? "read" : script.error().detail;
}

TEST(ScriptReaderTest, SaysWhatIsWrongAndInWhichLine) {
  EXPECT_EQ(reading("connect iwarp 127.0.0.1:20049 crc=off as a; expect alive # comment"), "read");
  EXPECT_EQ(reading("\nfrobnicate"), "2: 'frobnicate' begins no statement");
  EXPECT_EQ(reading("expect weather = good"), "1: nothing is known of weather");
  EXPECT_EQ(reading("expect reply within 2h"), "1: '2h' is no time, such as 100ms or 2s");
  EXPECT_EQ(reading("send read=[seg 4] null"), "1: a Read chunk begins with pos=N, or is payload");
  EXPECT_EQ(reading("compound { PUTROOTFH"),
            "1: an operation's name is missing before the end of the script");
  EXPECT_EQ(reading("send raw 012"), "1: send raw takes pairs of hexadecimal digits");
  EXPECT_EQ(reading("disconnect 3"),
            "1: behind disconnect: reset, after-send, after-read N, after-write N");
  EXPECT_EQ(reading("repeat 2 { pause 1ms } shuffle"), "1: shuffle needs seed=N");
  EXPECT_EQ(reading("pause 1ms }"), "1: a '}' without its '{'");
  EXPECT_EQ(reading("connect 2"), "read");
  EXPECT_EQ(reading("expect alive alive"), "1: 'alive' is not understood here");
  std::string nested;
  for (int i = 0; i < 100; ++i) nested += "repeat 1 { ";
  EXPECT_EQ(reading(nested), "1: repeat is nested too deeply");
}

class ScriptTest : public ::testing::Test {
 protected:
  ScriptTest() : responder_(options()) {
    std::ofstream(responder_.directory() + "/f") << "hello, world";
  }
  static responder::ServerOptions options() {
    responder::ServerOptions options;
    options.tcp_port = 0;
    return options;
  }
  /// "holds", or the exit status and what is said.
  std::string run(std::string_view text, const char* carrier = "iwarp", bool keep_going = false) {
    const auto script = read_script(text);
    if (!script) return script.error().detail;
    Network network;
    RunnerOptions runner;
    runner.carrier = carrier;
    const bool tcp = runner.carrier == "tcp";
    runner.server = (tcp ? responder_.tcp_address() : responder_.address()).text();
    runner.keep_going = keep_going;
    Runner run(network, runner);
    const auto done = run.run(*script);
    events_ = run.events();
    if (done) return "holds";
    return std::to_string(exit_status(done.error())) + " " + done.error().detail;
  }

  responder::TestResponder responder_;
  std::vector<Event> events_;
};

constexpr const char* kReadFile = R"(
  connect
  session
  compound slot=0 { PUTROOTFH LOOKUP "f" GETFH } -> o
  compound slot=1 { PUTFH $o.GETFH.resok4.object READ {count=5} GETATTR [size] }
  expect reply.status = NFS4_OK
  expect reply.READ.resok4.data = "hello"
  expect reply.GETATTR.resok4.obj_attributes.attr_vals = 0x000000000000000c
  let a = NFS4_OK
  expect $a = 0
  expect alive; expect server; expect no disconnect
)";

TEST_F(ScriptTest, CompoundsOverIwarpAndTcp) {
  EXPECT_EQ(run(kReadFile), "holds");
  EXPECT_EQ(run(kReadFile, "tcp"), "holds");
}

TEST_F(ScriptTest, ChunksByHand) {
  EXPECT_EQ(run(R"(
    connect private-data={R=0 send=4096 recv=4096}
    expect private-data.recv = 4096
    session
    send slot=0 xid=7 credits=1 write=[[seg 65536] [seg 4 seg 4096]] reply=[seg 1048577] {
      PUTROOTFH LOOKUP "f" READ {count=5} READ {offset=1 count=8191} }
    expect reply.xid = 7 within 2s
    expect reply.credits = 1
    expect reply.write.1.length = 5
    expect reply.write.2.segments = 2
    expect reply.write.2.length = 11
    expect reply.READ#2.resok4.data = "ello, world"
    expect no reply.error
    compound slot=0 { PUTROOTFH OPEN {share_access=OPEN4_SHARE_ACCESS_BOTH
      owner={owner="lab" clientid=$client.eir_clientid}
      openhow={opentype=OPEN4_CREATE how={mode=UNCHECKED4}} claim={claim=CLAIM_NULL file="g"}} GETFH } -> o
    send slot=0 read=[payload] { PUTFH $o.GETFH.resok4.object
      WRITE {stateid=$o.OPEN.resok4.stateid data={length=8191 fill=0x41}} GETATTR [size] }
    expect reply.GETATTR.resok4.obj_attributes.attr_vals = 0x0000000000001fff
    # The same, all of it by one chunk in two segments.
    send slot=0 read=[pos=0 seg 512 seg 512] { PUTFH $o.GETFH.resok4.object
      WRITE {stateid=$o.OPEN.resok4.stateid offset=8191 data="abc"} GETATTR [size] }
    expect reply.GETATTR.resok4.obj_attributes.attr_vals = 0x0000000000002002
  )"),
            "holds");
}

TEST_F(ScriptTest, SaysWhichExpectationFailsAndWhatCameInstead) {
  EXPECT_EQ(
      run("connect\nsend null xid=9\nexpect reply.xid = 9\nexpect reply.rpc = failure"),
      "1 4: expectation 2 does not hold: expect reply.rpc = failure; it is success, in {xid=9 "
      "vers=1 credits=32 proc=MSG bytes=52 rpc=success}");
  EXPECT_EQ(run("connect\nsend null\nexpect reply.error"),
            "1 3: expectation 1 does not hold: expect reply.error; there is none in "
            "{xid=1818321409 vers=1 credits=32 proc=MSG bytes=52 rpc=success}");
  EXPECT_EQ(run("connect\nexpect disconnect within 1ms"),
            "1 2: expectation 1 does not hold: expect disconnect; the connection lives");
  EXPECT_EQ(run("connect\nexpect no callback within 1ms"), "holds");
  EXPECT_EQ(run("connect\nexpect callback within 1ms"),
            "1 2: expectation 1 does not hold: expect callback; nothing came");
  EXPECT_EQ(run("connect\nsend null xid=3\nexpect no reply xid=3 within 2s").substr(0, 69),
            "1 3: expectation 1 does not hold: expect no reply xid=3; it is {xid=3");
  EXPECT_EQ(run("expect alive"), "2 1: there is no connection: connect comes first");
  EXPECT_EQ(run("connect\ncompound slot=0 { PUTROOTFH }"),
            "2 2: slot= needs a session: the statement session comes first");
  EXPECT_EQ(run("connect\nsend write=[[seg 4]] null", "tcp"),
            "2 2: chunks need RDMA, and this connection has none");
  EXPECT_EQ(run("connect\nsend write=[[seg 1G]] null"), "2 2: 1G is no number up to 268435456");
}

TEST_F(ScriptTest, WrongHeadersAndWhatTheyGet) {
  EXPECT_EQ(run(R"(
    connect
    send vers=9 null;                        expect reply.error = ERR_VERS; expect reply.low = 1
    send proc=MSGP null;                     expect reply.error = ERR_CHUNK
    send proc=DONE null;                     expect alive; expect no reply within 1ms
    send proc=9 null;                        expect reply.error = ERR_CHUNK
    send proc=NOMSG null;                    expect reply.error = ERR_CHUNK
    send raw 00000042 00000001 00000010 00000000 00000007 00000000 00000000
    expect reply.error = ERR_CHUNK
    expect alive
    send read=[pos=4 seg {handle=0xdeadbeef length=64 offset=0}] null
    expect disconnect
    reconnect
    expect alive
  )"),
            "holds");
}

TEST_F(ScriptTest, ResentOnANewConnectionItIsExecutedOnce) {
  EXPECT_EQ(run(R"(
    connect
    session
    send slot=0 cache=true xid=77 { PUTROOTFH CREATE {objtype=NF4DIR objname="d"} }
    expect reply.CREATE.status = NFS4_OK
    disconnect reset
    reconnect
    resend 77
    expect reply.CREATE.status = NFS4_OK
    compound slot=0 { PUTROOTFH CREATE {objtype=NF4DIR objname="d"} }
    expect reply.CREATE.status = NFS4ERR_EXIST
    send slot=0 seq=+5 { PUTROOTFH }
    expect reply.status = NFS4ERR_SEQ_MISORDERED
  )"),
            "holds");
}

TEST_F(ScriptTest, RepeatsAndShufflesByASeed) {
  EXPECT_EQ(run(R"(
    connect
    session slots=4
    repeat 3 { compound slot=$i { PUTROOTFH GETFH }; expect reply.status = NFS4_OK }
    repeat 4 { send null xid=$i; send null } shuffle seed=4711
    expect reply xid=4
  )"),
            "holds");
  EXPECT_EQ(run("connect\nrepeat 1000 { repeat 1000 { let a = 1 } }").substr(0, 2), "2 ");
}

TEST_F(ScriptTest, EndsAConnectionInTheMiddle) {
  EXPECT_EQ(run(R"(
    connect as a
    connect as b
    use a
    session
    send slot=0 read=[pos=0 seg 1K] { PUTROOTFH }
    disconnect after-read 1
    expect disconnect
    use b
    expect alive
    connect socket
    send raw 00112233 00112233 00112233 00112233 00112233
    expect disconnect
    expect server
  )"),
            "holds");
}

TEST_F(ScriptTest, KeepsGoingAndNotesWhatFailed) {
  EXPECT_EQ(run("connect\nsend null\nexpect reply.rpc = failure\nexpect alive", "iwarp", true),
            "holds");
  ASSERT_EQ(events_.size(), 2U);
  EXPECT_EQ(events_[0].what, "reply");
  EXPECT_EQ(events_[1].what, "expect reply.rpc = failure");
}

TEST_F(ScriptTest, WithoutAServerItSaysSo) {
  const auto script = read_script("connect 127.0.0.1:1");
  Network network;
  Runner runner(network, {});
  const auto done = runner.run(*script);
  ASSERT_FALSE(done);
  EXPECT_EQ(exit_status(done.error()), kExitFailed);
  EXPECT_EQ(done.error().detail.substr(0, 28), "1: the server is not reached");
}

constexpr const char* kMakeFile = R"(
  connect
  session
  compound slot=0 { PUTFH $root OPEN {share_access=OPEN4_SHARE_ACCESS_BOTH
    owner={clientid=$client.eir_clientid owner="lab"} openhow={opentype=OPEN4_CREATE how={mode=UNCHECKED4}}
    claim={claim=CLAIM_NULL file="g"}} GETFH GETATTR [type size fileid change time_modify] }
  expect reply.OPEN.status = NFS4_OK
  compound slot=0 { PUTFH $root LOOKUP "f" READ {count=5} }
)";

void expect_no_difference(const std::vector<Event>& first, const std::vector<Event>& second) {
  for (const Difference& each : find_differences(first, second)) {
    ADD_FAILURE() << each.line << ' ' << each.where << ": " << each.first << ", " << each.second;
  }
}

TEST_F(ScriptTest, EqualServersHaveNoDifference) {
  EXPECT_EQ(run(kMakeFile), "holds");  // the file is there from now on
  EXPECT_EQ(run(kMakeFile, "iwarp", true), "holds");
  const auto first = events_;
  EXPECT_EQ(run(kMakeFile, "tcp", true), "holds");
  expect_no_difference(first, events_);
  EXPECT_EQ(first.size(), 2U);
}

TEST_F(ScriptTest, TheFirstDifferenceIsNamedByItsPath) {
  EXPECT_EQ(run(kMakeFile, "iwarp", true), "holds");
  const auto first = events_;
  responder_.on_its_thread([](responder::Server& server) {
    EXPECT_EQ(server.run_command("fault nfsstat=NFS4ERR_DELAY:op=OPEN"), "ok 1");
  });
  EXPECT_EQ(run(kMakeFile, "iwarp", true), "holds");
  const auto differences = find_differences(first, events_);
  ASSERT_GE(differences.size(), 2U);
  EXPECT_EQ(differences[0].where.substr(0, 6), "reply");
  EXPECT_EQ(differences[1].where, "what came");
  EXPECT_EQ(differences[1].second, "expect reply.OPEN.status = NFS4_OK (line 7)");
}

// The answers have session ids in them, which differ each time.
TEST_F(ScriptTest, AnExpectationThatFailsWithBothServersIsNoDifference) {
  const std::string script = std::string(kMakeFile) + "  expect reply.READ.status = NFS4ERR_IO\n";
  EXPECT_EQ(run(kMakeFile), "holds");  // the file is there from now on
  EXPECT_EQ(run(script, "iwarp", true), "holds");
  const auto first = events_;
  EXPECT_EQ(run(script, "iwarp", true), "holds");
  expect_no_difference(first, events_);
  EXPECT_EQ(first.size(), 3U);
}

TEST(NormaliseTest, WhatIsTheServersOwnIsNamedInOrder) {
  Normalise normalise;
  const auto text = [&](const char* node) { return to_text(normalise(*read_node(node))); };
  EXPECT_EQ(text("{xid=7 GETFH={object=0x01}}"), "{GETFH={object=object#1}}");
  EXPECT_EQ(text("{a={object=0x02} b={object=0x01}}"), "{a={object=object#2} b={object=object#1}}");
  // size and mode; the modification time is left out.
  EXPECT_EQ(text("{attrmask=[16 2097154] attr_vals="
                 "0x0000000000000005000001a4000000000000000100000000}"),
            "{size=5 mode=420}");
}

TEST(ServerTest, IsReadFromTheCommandLine) {
  const Server server = read_server("tcp:[::1]:2049/a/b//", "iwarp");
  EXPECT_EQ(server.carrier, "tcp");
  EXPECT_EQ(server.address, "[::1]:2049");
  EXPECT_EQ(server.path, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(read_server("server", "iwarp").carrier, "iwarp");
  EXPECT_EQ(read_server("server", "iwarp").address, "server");
}

}  // namespace
}  // namespace nfsrdma::lab::script
