// Connections that may speak RPC-over-RDMA version 2: the first message, what follows from its
// answer, RDMA_OPTIONAL, and what a peer of another version or of an older text may send.
#include <gtest/gtest.h>

#include "tests/transport/rdma/harness.h"
#include "transport/rdma/version_probe.h"

namespace nfsrdma::test {
namespace {

using rdma::VersionChoice;

constexpr std::uint32_t kXid = rdma::VersionProbe::kXid;
constexpr std::size_t kInline = 32768;

Harness::Setup setup_of(VersionChoice choice, std::size_t inline_size = 4096) {
  Harness::Setup setup;
  setup.options.version = choice;
  setup.options.send_size = setup.options.receive_size = inline_size;
  setup.server =
      rdma::PrivateData{.remote_invalidation = true, .send_size = 8192, .receive_size = 2048};
  return setup;
}

class VersionTwo : public testing::Test {
 protected:
  explicit VersionTwo(Harness::Setup setup = setup_of(VersionChoice::automatic))
      : harness_(setup) {}
  FakeEndpoint& peer() { return harness_.peer(); }
  const Bytes& last_sent() { return peer().sent(peer().sent_count() - 1).bytes; }
  bool is_up() const { return harness_.observer.ups > 0; }
  std::uint64_t value(const char* name) { return counter(*harness_.channel, name); }
  void refuse_version(std::uint32_t low, std::uint32_t high, std::uint32_t vers = 2) {
    harness_.deliver(words({kXid, vers, 32, rdma::RDMA_ERROR, rdma::ERR_VERS, low, high}));
  }
  /// The next connection, after this one is down.
  void begin_again() {
    harness_.channel.reset();
    harness_.observer = {};
    harness_.begin();
  }
  bool begins_with_a_probe() { return peer().sent_count() == 1; }
  const std::string reason() const {
    return harness_.observer.down_reason ? harness_.observer.down_reason->message() : "";
  }

  Harness harness_;
};

// V2-5-1, V2-5-2, V2-5-3, F-18: one NULL call of version 2, far below 1024 bytes, alone.
TEST_F(VersionTwo, FirstMessageIsANullCall) {
  harness_.begin();
  EXPECT_FALSE(is_up());
  ASSERT_EQ(peer().sent_count(), 1u);
  EXPECT_EQ(peer().sent(0).bytes, words({kXid, 2, 64, rdma::RDMA_MSG, 0, 0, 0,  //
                                         kXid, 0, 2, 100003, 4, 0, 0, 0, 0, 0}));
  EXPECT_TRUE(peer().sent(0).leases.empty());
}

// rpcrdma=1 asks nothing, and announces nothing but private data.
TEST(VersionOne, NeverAsks) {
  Harness harness;
  harness.connect();
  EXPECT_EQ(harness.observer.ups, 1);
  EXPECT_EQ(harness.peer().sent_count(), 0u);
}

// V2-5.1-1, V2-5.2-5, V2-5.2-6, V2-2.1-1, F-13: a good answer means version 2 and 4096 bytes,
// whatever the private data says, on the same connection.
TEST_F(VersionTwo, GoodAnswerMeansVersionTwo) {
  harness_.begin();
  harness_.agree_on_version_two(32);
  EXPECT_TRUE(is_up());
  EXPECT_EQ(value("rpcrdma_version"), 2u);
  EXPECT_EQ(value("inline_to_server"), 4096u);
  EXPECT_EQ(value("inline_from_server"), 4096u);
  TestCall call(harness_, 1);
  call.submit();
  EXPECT_EQ(parse(last_sent())->header.rdma_vers, 2u);
  EXPECT_EQ(harness_.fabric.connections(), 1u);
  EXPECT_EQ(value("messages_held"), 0u) << "the answer is not kept";
  harness_.answer(peer().sent_count() - 1);
  EXPECT_TRUE(call.ok());
}

// Whatever the server thinks of the NULL call, it has said it in version 2.
TEST_F(VersionTwo, RpcErrorIsAnAnswerToo) {
  harness_.begin();
  harness_.deliver(words({kXid, 2, 32, rdma::RDMA_MSG, 0, 0, 0, kXid, 1, 0, 0, 0, 1}));
  EXPECT_TRUE(is_up());
  EXPECT_EQ(value("rpcrdma_version"), 2u);
}

// V2-5.2-1, V2-5.2-2, V2-5.2-5, V2-5-2, F-20: ERR_VERS with whatever version word: version 1 on the
// same connection, with its thresholds, and one credit until a good reply.
TEST_F(VersionTwo, RefusalMeansVersionOneOnTheSameConnection) {
  for (const std::uint32_t vers : {1u, 2u, 0u}) {
    Harness harness(setup_of(VersionChoice::automatic));
    harness.begin();
    harness.deliver(words({kXid, vers, 32, rdma::RDMA_ERROR, rdma::ERR_VERS, 1, 1}));
    EXPECT_EQ(harness.observer.ups, 1);
    EXPECT_EQ(counter(*harness.channel, "rpcrdma_version"), 1u);
    EXPECT_EQ(counter(*harness.channel, "inline_to_server"), 2048u);
    EXPECT_EQ(counter(*harness.channel, "inline_from_server"), 4096u);
    TestCall first(harness, 1);
    TestCall second(harness, 2);
    first.submit();
    second.submit();
    ASSERT_EQ(harness.peer().sent_count(), 2u) << "the error granted nothing";
    EXPECT_EQ(parse(harness.peer().sent(1).bytes)->header.rdma_vers, 1u);
    harness.answer(1);
    EXPECT_EQ(harness.peer().sent_count(), 3u);
    harness.answer(2);
    EXPECT_TRUE(second.ok());
  }
}

// V2-5.2-3: lost right after ERR_VERS: the next connection does not ask again.
TEST_F(VersionTwo, RefusalIsRemembered) {
  harness_.begin();
  refuse_version(1, 1);
  peer().lose(fabric::Fault::closed);
  harness_.settle();
  EXPECT_FALSE(harness_.factory->try_again_at_once()) << "an ordinary loss";
  begin_again();
  EXPECT_TRUE(is_up());
  EXPECT_EQ(peer().sent_count(), 0u);
  EXPECT_EQ(value("rpcrdma_version"), 1u);
}

// V2-5.2-4: a connection dropped for the first message: version 1 at the next one, which is tried
// at once, and once.
TEST_F(VersionTwo, DroppedConnectionMeansVersionOneNextTime) {
  harness_.begin();
  peer().lose(fabric::Fault::closed);
  harness_.settle();
  EXPECT_EQ(harness_.observer.downs, 1);
  EXPECT_FALSE(is_up());
  EXPECT_TRUE(harness_.factory->try_again_at_once());
  EXPECT_FALSE(harness_.factory->try_again_at_once());
  begin_again();
  EXPECT_TRUE(is_up());
  EXPECT_FALSE(begins_with_a_probe());
  peer().lose(fabric::Fault::closed);
  harness_.settle();
  EXPECT_FALSE(harness_.factory->try_again_at_once());
}

// V2-5.2-4: no answer: the connection is closed, and the next one speaks version 1.
TEST_F(VersionTwo, SilenceMeansVersionOneNextTime) {
  harness_.begin();
  harness_.reactor.advance(rdma::Options{}.version_patience);
  harness_.settle();
  EXPECT_EQ(harness_.observer.downs, 1);
  EXPECT_TRUE(harness_.factory->try_again_at_once());
  begin_again();
  EXPECT_TRUE(is_up());
  EXPECT_FALSE(begins_with_a_probe());
}

// A header error in answer to the first message says as much.
TEST_F(VersionTwo, HeaderErrorMeansVersionOneNextTime) {
  harness_.begin();
  harness_.deliver(words({kXid, 1, 32, rdma::RDMA_ERROR, rdma::ERR_CHUNK}));
  EXPECT_EQ(harness_.observer.downs, 1);
  EXPECT_TRUE(harness_.factory->try_again_at_once());
  begin_again();
  EXPECT_FALSE(begins_with_a_probe());
}

// A server that is known to speak version 2 does not lose it by restarting.
TEST_F(VersionTwo, KnownVersionTwoSurvivesALostConnection) {
  harness_.begin();
  harness_.agree_on_version_two(32);
  peer().lose(fabric::Fault::reset);
  harness_.settle();
  begin_again();
  EXPECT_TRUE(begins_with_a_probe()) << "V2-5-1: every connection asks";
  peer().lose(fabric::Fault::reset);
  harness_.settle();
  EXPECT_FALSE(harness_.factory->try_again_at_once());
  begin_again();
  EXPECT_TRUE(begins_with_a_probe());
  harness_.agree_on_version_two(32);
  EXPECT_EQ(value("rpcrdma_version"), 2u);
}

// V2-5.2-2: no version in common ends the connection; it is the server's word, and no reason to ask
// otherwise next time.
TEST_F(VersionTwo, NoVersionInCommon) {
  harness_.begin();
  refuse_version(3, 4);
  EXPECT_FALSE(is_up());
  EXPECT_EQ(harness_.observer.downs, 1);
  EXPECT_NE(reason().find("speaks versions 3 to 4"), std::string::npos) << reason();
  EXPECT_FALSE(harness_.factory->try_again_at_once());
}

class Insisting : public VersionTwo {
 protected:
  Insisting() : VersionTwo(setup_of(VersionChoice::two)) {}
  void expect_refusal(const char* why) {
    EXPECT_EQ(harness_.observer.downs, 1);
    EXPECT_FALSE(is_up());
    EXPECT_NE(reason().find(why), std::string::npos) << reason();
    EXPECT_NE(reason().find("mount with rpcrdma=1 or rpcrdma=auto"), std::string::npos) << reason();
    EXPECT_FALSE(harness_.factory->try_again_at_once());
    begin_again();
    EXPECT_TRUE(begins_with_a_probe());
  }
};

TEST_F(Insisting, RefusalIsTold) {
  harness_.begin();
  EXPECT_TRUE(peer().private_data().empty()) << "F-13: private data is version 1's";
  refuse_version(1, 1);
  expect_refusal("speaks versions 1 to 1");
}
TEST_F(Insisting, LostConnectionIsTold) {
  harness_.begin();
  peer().lose(fabric::Fault::closed);
  harness_.settle();
  expect_refusal("lost at the first message");
}
TEST_F(Insisting, SilenceIsTold) {
  harness_.begin();
  harness_.reactor.advance(rdma::Options{}.version_patience);
  harness_.settle();
  expect_refusal("no answer to the first message within 5 s");
}

/// A connection on which version 2 is agreed; the first message and CONNPROP are forgotten.
class Agreed : public VersionTwo {
 protected:
  explicit Agreed(Harness::Setup setup = setup_of(VersionChoice::automatic)) : VersionTwo(setup) {}
  void SetUp() override {
    harness_.begin();
    harness_.agree_on_version_two(32);
    ASSERT_EQ(peer().sent_count(), 2u);
    connprop_ = peer().sent(1).bytes;
    peer().forget_sent();
  }
  std::uint32_t connprop_xid() const { return xdr::Decoder(connprop_).u32("xid"); }
  static Bytes optional(std::uint32_t xid, std::uint32_t opttype, const Bytes& info) {
    Bytes message =
        words({xid, 2, 1, rdma::RDMA_OPTIONAL, opttype, static_cast<std::uint32_t>(info.size())});
    message.insert(message.end(), info.begin(), info.end());
    return message;
  }
  static Bytes server_connprop(std::uint32_t size) {
    return optional(0x80000001, rdma::ROPT_CONNPROP, words({1, 1, 4, size, 0}));
  }
  void exchange_one_call(std::uint32_t xid) {
    TestCall call(harness_, xid);
    call.submit();
    harness_.answer(peer().sent_count() - 1);
    EXPECT_TRUE(call.ok());
  }
  /// Whether a call of so many bytes goes inline.
  bool goes_inline(std::uint32_t xid, std::size_t bytes) {
    const std::size_t index = peer().sent_count();
    TestCall call(harness_, xid, bytes - rdma::kMinHeader);
    call.submit();
    const bool is_inline = parse(peer().sent(index).bytes)->header.proc == rdma::RDMA_MSG;
    harness_.answer(index);
    return is_inline;
  }
  /// Whether a call whose reply may have so many bytes offers no Reply chunk.
  bool reply_goes_inline(std::uint32_t xid, std::size_t bytes) {
    const std::size_t index = peer().sent_count();
    TestCall call(harness_, xid);
    call.call.max_reply = bytes - rdma::kMinHeader;
    call.submit();
    const bool is_inline = !parse(peer().sent(index).bytes)->header.chunks.has_reply;
    harness_.answer(index);
    return is_inline;
  }

  Bytes connprop_;
};

// V2-3.1-1, XP-4.1-4, XP-4.2-1: CONNPROP follows the first good reply: 72 bytes, under an XID that
// no call has, with three properties.
TEST_F(Agreed, ConnpropByteForByte) {
  EXPECT_EQ(connprop_, words({connprop_xid(), 2, 64, rdma::RDMA_OPTIONAL, 1, 48, 3, 1, 4, 4096, 2,
                              4, 1, 3, 4, 1, 1, 0b110}));
  EXPECT_NE(connprop_xid(), kXid);
}

// F-14: while a grant leaves no room for one, no option is sent; it follows when there is.
TEST_F(VersionTwo, OptionsWaitForCredits) {
  harness_.begin();
  harness_.agree_on_version_two(2);
  EXPECT_EQ(peer().sent_count(), 1u);
  TestCall call(harness_, 1);
  call.submit();
  harness_.answer(1, 3);
  ASSERT_EQ(peer().sent_count(), 3u);
  EXPECT_EQ(parse(last_sent())->header.proc, rdma::RDMA_OPTIONAL);
}

// F-14: an option counts as one credit until a later reply.
TEST_F(VersionTwo, OptionCountsAsOneCredit) {
  harness_.begin();
  harness_.agree_on_version_two(4);
  ASSERT_EQ(peer().sent_count(), 2u) << "with CONNPROP";
  TestCall first(harness_, 1);
  TestCall second(harness_, 2);
  TestCall third(harness_, 3);
  for (auto* call : {&first, &second, &third}) call->submit();
  EXPECT_EQ(peer().sent_count(), 4u) << "one credit is kept back, one is the option's";
  harness_.answer(2, 4);
  EXPECT_EQ(peer().sent_count(), 5u);
  harness_.answer(3, 4);
  harness_.answer(4, 4);
  EXPECT_TRUE(third.ok());
}

// F-14: two Receives are there for options and their errors, besides those of calls and callbacks.
TEST_F(Agreed, SpareReceivesArePosted) {
  EXPECT_GE(peer().receives(), rdma::Options{}.backward_credits + 2);
  for (int i = 0; i < 100; ++i) harness_.deliver(server_connprop(4096));
  EXPECT_GE(peer().receives(), rdma::Options{}.backward_credits + 2);
  EXPECT_EQ(harness_.observer.closings, 0);
}

// V2-3.1-3, V2-4.2-10, V2-4.2-2, F-1, F-3: an unknown opttype, here with the fewest bytes there
// can be, is answered with 20 bytes and the same XID, from this side too.
TEST_F(Agreed, UnknownOptionIsAnInvalidOption) {
  for (const std::uint32_t opttype : {0x7777u, 0u, 5u}) {
    harness_.deliver(optional(0x99, opttype, {}));
    EXPECT_EQ(last_sent(), words({0x99, 2, 64, rdma::RDMA_ERROR, rdma::RDMA_ERR_INVAL_OPTION}));
  }
  EXPECT_EQ(value("options_refused"), 3u);
  exchange_one_call(1);
}

// V2-4.2-6: a payload behind an unknown option is the option's affair.
TEST_F(Agreed, UnknownOptionWithPayload) {
  Bytes message = optional(0x99, 0x7777, words({1, 2}));
  const Bytes payload = rpc_call(0x99);
  message.insert(message.end(), payload.begin(), payload.end());
  harness_.deliver(message);
  EXPECT_EQ(last_sent(), words({0x99, 2, 64, rdma::RDMA_ERROR, rdma::RDMA_ERR_INVAL_OPTION}));
  EXPECT_EQ(harness_.observer.backward_calls, 0);
}

// XP-2.1-3, XP-4-1, F-17: an option that does not decode gets BAD_HEADER; one that is too short to
// be one at all gets nothing. Neither touches the call that happens to have the same XID.
TEST_F(Agreed, MalformedOptionIsABadHeader) {
  TestCall call(harness_, 0x99);
  call.submit();
  const auto bad = words({0x99, 2, 64, rdma::RDMA_ERROR, rdma::RDMA_ERR_BAD_HEADER});
  harness_.deliver(words({0x99, 2, 1, rdma::RDMA_OPTIONAL, 1, 100, 0}));
  EXPECT_EQ(last_sent(), bad);
  harness_.deliver(optional(0x99, rdma::ROPT_CONNPROP, words({1, 3, 4, 9, 0})));
  EXPECT_EQ(last_sent(), bad);
  Bytes with_payload = server_connprop(4096);
  with_payload.resize(with_payload.size() + 4);
  harness_.deliver(with_payload);
  EXPECT_EQ(parse(last_sent())->header.error.err, rdma::RDMA_ERR_BAD_HEADER);
  const std::size_t before = peer().sent_count();
  harness_.deliver(words({0x99, 2, 1, rdma::RDMA_OPTIONAL, 1}));
  EXPECT_EQ(peer().sent_count(), before);
  EXPECT_FALSE(call.done());
  harness_.answer(0);
  EXPECT_TRUE(call.ok());
}

// XP-4.1-7, F-2: an error ends what it names: an invalid option no call, whatever its XID; a bad
// header the call, if one is open, else the option; and nothing else.
TEST_F(Agreed, ErrorsEndTheRightOperation) {
  TestCall call(harness_, 5);
  TestCall other(harness_, 6);
  call.submit();
  other.submit();
  harness_.deliver(words({5, 2, 32, rdma::RDMA_ERROR, rdma::RDMA_ERR_INVAL_OPTION}));
  EXPECT_FALSE(call.done());
  harness_.deliver(words({connprop_xid(), 2, 32, rdma::RDMA_ERROR, rdma::RDMA_ERR_INVAL_OPTION}));
  EXPECT_FALSE(call.done());
  EXPECT_EQ(value("own_requester_remote_invalidation"), 0u) << "XP-3-2: defaults";
  harness_.deliver(words({5, 2, 32, rdma::RDMA_ERROR, rdma::RDMA_ERR_BAD_HEADER}));
  ASSERT_TRUE(call.done());
  EXPECT_TRUE(call.error().is(Layer::transport, static_cast<int>(rdma::Fault::err_chunk)));
  EXPECT_FALSE(other.done());
  EXPECT_EQ(harness_.observer.closings, 0);
  harness_.answer(1);
  EXPECT_TRUE(other.ok());
}

// V2-4.2-4, V2-3-1, F-6, F-1: withdrawn and undefined kinds are dropped by this side, silently.
TEST_F(Agreed, WithdrawnAndUndefinedKindsAreDropped) {
  for (const std::uint32_t proc : {2u, 3u, 6u, 99u}) {
    harness_.deliver(words({0x99, 2, 1, proc}));
    harness_.deliver(words({0x99, 2, 1, proc, 0, 0, 0, 0x99, 0, 2, 1, 1, 1, 0, 0, 0, 0}));
  }
  EXPECT_EQ(peer().sent_count(), 0u);
  EXPECT_EQ(harness_.observer.closings, 0);
  exchange_one_call(1);
}

// V2-5-4, F-12, F-9: a reply of another version is no reply; its call would wait for ever, so the
// connection ends.
TEST_F(Agreed, ReplyOfVersionOneEndsTheConnection) {
  TestCall call(harness_, 7);
  call.submit();
  rdma::Header& header = harness_.reply_header(0);
  header.rdma_vers = 1;
  harness_.deliver(encode(header, rpc_reply(7)));
  EXPECT_EQ(harness_.observer.downs, 1);
  EXPECT_FALSE(call.ok());
}

// F-7: a grant of nothing counts as one.
TEST_F(Agreed, ZeroGrantCountsAsOne) {
  TestCall call(harness_, 7);
  call.submit();
  harness_.answer(0, 0);
  EXPECT_TRUE(call.ok());
  EXPECT_EQ(value("credit_limit"), 1u);
  EXPECT_EQ(value("zero_grants"), 1u);
}

// An option invalidates nothing.
TEST_F(Agreed, OptionThatInvalidatesEndsTheConnection) {
  TestCall call(harness_, 0x60);
  Buffer sink = harness_.data->acquire();
  call.call.result_sink = sink.first(9000);
  call.submit();
  const auto handle = peer().sent(0).leases[0]->segment.handle;
  harness_.deliver(optional(0x60, rdma::ROPT_UPDPROP, words({0})), handle);
  EXPECT_EQ(harness_.observer.downs, 1);
}

// XP-3.2-1, XP-3.2-2: a reply may invalidate a handle of its call once the server has been told so.
TEST_F(Agreed, RemoteInvalidationIsByProperty) {
  TestCall call(harness_, 0x60);
  Buffer sink = harness_.data->acquire();
  call.call.result_sink = sink.first(9000);
  call.submit();
  const auto handle = peer().sent(0).leases[0]->segment.handle;
  harness_.deliver(encode(harness_.reply_header(0), rpc_reply(0x60)), handle);
  EXPECT_TRUE(call.done());
  EXPECT_EQ(value("remote_invalidations"), 1u);
}

TEST_F(VersionTwo, NoRemoteInvalidationBeforeItIsTold) {
  harness_.begin();
  harness_.agree_on_version_two(1);  // no room for CONNPROP
  TestCall call(harness_, 0x60);
  Buffer sink = harness_.data->acquire();
  call.call.result_sink = sink.first(9000);
  call.submit();
  const auto handle = peer().sent(1).leases[0]->segment.handle;
  harness_.deliver(encode(harness_.reply_header(1), rpc_reply(0x60)), handle);
  EXPECT_EQ(harness_.observer.downs, 1);
}

class Large : public Agreed {
 protected:
  Large() : Agreed(setup_of(VersionChoice::automatic, kInline)) {}
};

// XP-3.1-2, XP-4.1-2, V2-2.3-1: the server's size counts for calls from its message on; the own
// size counts for replies once the server has shown that it knows the property.
TEST_F(Large, SizesTakeEffectWithTheNextMessage) {
  EXPECT_TRUE(goes_inline(1, 4096));
  EXPECT_FALSE(goes_inline(2, 4100));
  EXPECT_FALSE(reply_goes_inline(3, 4100));
  harness_.deliver(server_connprop(8192));
  EXPECT_TRUE(goes_inline(4, 8192));
  EXPECT_FALSE(goes_inline(5, 8196));
  EXPECT_TRUE(reply_goes_inline(6, kInline));
  EXPECT_FALSE(reply_goes_inline(7, kInline + 4));
  harness_.deliver(optional(0x80000002, rdma::ROPT_UPDPROP, words({1, 1, 4, 65536})));
  EXPECT_TRUE(goes_inline(8, kInline));
  EXPECT_FALSE(goes_inline(9, kInline + 4)) << "no more than inline= says";
  EXPECT_EQ(harness_.fabric.connections(), 1u);
  EXPECT_EQ(harness_.observer.closings, 0);
}

// XP-4.2-1, XP-4.3-2: what the server takes less than wanted is asked for; done counts at once. The
// request is known by its XID alone, even when an open call has the same.
TEST_F(Large, SmallServerIsAskedForMore) {
  exchange_one_call(1);  // CONNPROP is over
  harness_.deliver(server_connprop(4096));
  const auto request = parse(last_sent());
  ASSERT_EQ(request->header.proc, rdma::RDMA_OPTIONAL);
  EXPECT_EQ(request->header.optional.rdma_opttype, rdma::ROPT_REQPROP);
  TestCall same(harness_, request->header.rdma_xid);
  same.submit();
  harness_.deliver(optional(request->header.rdma_xid, rdma::ROPT_RESPROP, words({1, 1, 0, 0})));
  EXPECT_FALSE(same.done());
  harness_.answer(peer().sent_count() - 1);
  EXPECT_TRUE(same.ok());
  EXPECT_TRUE(goes_inline(2, kInline));
}

// XP-3.1-4, XP-4.2-2: the server may ask this side to take less, and more again.
TEST_F(Large, ServerAsksForAnotherReceiveSize) {
  harness_.deliver(server_connprop(kInline));
  harness_.deliver(optional(0x55, rdma::ROPT_REQPROP, words({1, 1, 4, 8192})));
  EXPECT_EQ(parse(last_sent())->header.rdma_xid, 0x55u);
  EXPECT_EQ(parse(last_sent())->header.optional.rdma_opttype, rdma::ROPT_RESPROP);
  EXPECT_FALSE(reply_goes_inline(1, 8196));
  harness_.deliver(optional(0x56, rdma::ROPT_REQPROP, words({1, 1, 4, kInline})));
  EXPECT_TRUE(reply_goes_inline(2, kInline));
}

class Growing : public Agreed {
 protected:
  Growing() : Agreed(setup_of(VersionChoice::two, kInline)) {}
};

// XP-3.1-1, XP-3.1-3, XP-3-5: without version 1 the first Receives have the 4096 bytes of version
// 2 and larger ones follow; the server is told when the last small one has been used up, and not
// before. What it may send until then fits in any of them.
TEST_F(Growing, LastSmallReceiveIsUsedBeforeUpdpropLeaves) {
  harness_.deliver(server_connprop(kInline));
  EXPECT_FALSE(reply_goes_inline(1000, 4100));
  std::uint32_t xid = 1;
  while (value("sent_updprop") == 0) {
    ASSERT_LT(xid, 100u) << "never told";
    EXPECT_EQ(value("own_receive_buffer_size"), 4096u);
    exchange_one_call(xid++);
  }
  EXPECT_GE(xid, rdma::Options{}.backward_credits) << "the small ones";
  EXPECT_EQ(value("own_receive_buffer_size"), kInline);
  const std::size_t index = peer().sent_count();
  TestCall call(harness_, 2000);
  call.call.max_reply = kInline - rdma::kMinHeader;
  call.submit();
  harness_.deliver(
      encode(harness_.reply_header(index),
             rpc_reply(2000, pattern(kInline - rdma::kMinHeader - rpc::kAcceptedReplyHeader))));
  EXPECT_TRUE(call.ok()) << "a reply of the whole size fits";
}

// Counters tell version, thresholds, properties of both sides, and messages by kind.
TEST_F(Large, CountersTellWhatWasExchanged) {
  harness_.deliver(server_connprop(8192));
  exchange_one_call(1);
  EXPECT_EQ(value("rpcrdma_version"), 2u);
  EXPECT_EQ(value("inline_to_server"), 8192u);
  EXPECT_EQ(value("inline_from_server"), kInline);
  EXPECT_EQ(value("own_receive_buffer_size"), kInline);
  EXPECT_EQ(value("own_backward_request_support"), 1u);
  EXPECT_EQ(value("server_receive_buffer_size"), 8192u);
  EXPECT_EQ(value("sent_msg"), 2u);
  EXPECT_EQ(value("received_msg"), 2u);
  EXPECT_EQ(value("sent_connprop"), 1u);
  EXPECT_EQ(value("received_connprop"), 1u);
  EXPECT_EQ(value("sent_reqprop"), 1u) << "8192 is less than inline= wants";
}

// F-14: a server that floods this side with options and takes no answer in ends its connection.
TEST_F(Agreed, AnswersAreBounded) {
  peer().sends_complete = false;
  for (int i = 0; i < 20 && harness_.observer.closings == 0; ++i) {
    harness_.deliver(optional(0x99, 0x7777, {}));
  }
  EXPECT_EQ(harness_.observer.closings, 1);
}

}  // namespace
}  // namespace nfsrdma::test
