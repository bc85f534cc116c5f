// The responder speaks RPC-over-RDMA version 2 (version-two-00, xcharext-03), seen by a client that
// does everything by hand.
#include "tests/responder/reply_fixture.h"
#include "transport/rdma/properties.h"

namespace nfsrdma::responder {
namespace {

constexpr std::uint32_t kVersionTwoXid = 0x2001;
constexpr std::uint32_t kOptionXid = 0x4001;
constexpr std::size_t kLarge = 16384;

class VersionTwoTest : public ReplyTest {
 protected:
  static ResponderConfig both() {
    ResponderConfig config;
    config.versions = {rdma::kVersionOne, rdma::kVersionTwo};
    return config;
  }
  RawRequester& connect_to(const ResponderConfig& config) {
    start(config);
    return connect(std::nullopt);
  }
  /// A connection on which version 2 is agreed.
  RawRequester& agree(const ResponderConfig& config = both()) {
    auto& requester = connect_to(config);
    EXPECT_TRUE(exchange(requester, call(kVersionTwoXid)).results());
    service.on_call = nullptr;
    return requester;
  }
  static rdma::Header header_of(std::uint32_t xid) {
    rdma::Header header = message_header(xid);
    header.rdma_vers = 2;
    return header;
  }
  static Bytes call(std::uint32_t xid) { return assemble(header_of(xid), rpc_call(xid)); }
  static Bytes option(std::uint32_t opttype, const Bytes& info, std::uint32_t xid = kOptionXid) {
    return join(
        words({xid, 2, 16, rdma::RDMA_OPTIONAL, opttype, static_cast<std::uint32_t>(info.size())}),
        info);
  }
  static Bytes join(Bytes first, const Bytes& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
  }
  static Bytes connprop(std::uint32_t size, std::uint32_t invalidation = 0,
                        std::uint32_t backward = 1) {
    return option(rdma::ROPT_CONNPROP,
                  words({3, 1, 4, size, 2, 4, invalidation, 3, 4, backward, 1, 0b110}));
  }
  /// The optinfo of the RDMA_OPTIONAL that arrives next.
  Bytes next_option(RawRequester& requester, std::uint32_t opttype) {
    const auto reply = next_reply(requester);
    EXPECT_EQ(reply.header.proc, rdma::RDMA_OPTIONAL);
    EXPECT_EQ(reply.header.rdma_vers, 2U);
    EXPECT_GE(reply.header.rdma_credit, 1U);
    EXPECT_EQ(reply.header.optional.rdma_opttype, opttype);
    last_option_xid_ = reply.header.rdma_xid;
    return copy(reply.header.optional.rdma_optinfo);
  }
  /// Tells the client's properties, and takes the responder's.
  void tell(RawRequester& requester, const Bytes& message) {
    requester.send(message);
    next_option(requester, rdma::ROPT_CONNPROP);
  }
  Bytes error(std::uint32_t xid, rdma::rpc_rdma_errcode code) {
    return words({xid, 2, 16, rdma::RDMA_ERROR, code});
  }
  void answer_with_bytes(std::size_t size) {
    service.on_call = [size](ServerCall& served) {
      served.results().fixed(pattern(size));
      served.reply(rpc::AcceptStat::success);
    };
  }

  std::uint32_t last_option_xid_ = 0;
};

// V2-5.1-1, V2-5.3-1, V2-5-4, V2-4.2-1, F-12: each reply has the version of its call, on one
// connection, byte for byte the same but for that word.
TEST_F(VersionTwoTest, RepliesHaveTheVersionOfTheirCall) {
  auto& requester = connect_to(both());
  const auto two = exchange(requester, call(kVersionTwoXid));
  const auto one = exchange(requester, plain_call(kVersionTwoXid));
  EXPECT_EQ(two.bytes,
            words({kVersionTwoXid, 2, 16, rdma::RDMA_MSG, 0, 0, 0, kVersionTwoXid, 1, 0, 0, 0, 0}));
  EXPECT_EQ(one.bytes,
            words({kVersionTwoXid, 1, 16, rdma::RDMA_MSG, 0, 0, 0, kVersionTwoXid, 1, 0, 0, 0, 0}));
  EXPECT_EQ(exchange(requester, call(kVersionTwoXid)).bytes, two.bytes);
}

// V2-5.2-1, F-20: a responder of version 1 says so, under the version of the message.
TEST_F(VersionTwoTest, VersionOneOnlyAnswersWithItsRange) {
  auto& requester = connect_to(ResponderConfig{});
  EXPECT_EQ(exchange(requester, call(kVersionTwoXid)).bytes,
            words({kVersionTwoXid, 2, 1, rdma::RDMA_ERROR, rdma::ERR_VERS, 1, 1}));
  EXPECT_TRUE(exchange(requester, plain_call(kVersionTwoXid)).results())
      << "the connection goes on";
}

TEST_F(VersionTwoTest, BothVersionsAnswerOthersWithTheirRange) {
  auto& requester = connect_to(both());
  auto header = header_of(kVersionTwoXid);
  header.rdma_vers = 3;
  EXPECT_EQ(exchange(requester, assemble(header, rpc_call(kVersionTwoXid))).bytes,
            words({kVersionTwoXid, 3, 1, rdma::RDMA_ERROR, rdma::ERR_VERS, 1, 2}));
}

// V2-5.2-4: what older responders do with a version they do not know.
TEST_F(VersionTwoTest, VersionOneThatDropsTheConnection) {
  ResponderConfig config;
  config.other_versions = OtherVersions::disconnect;
  auto& requester = connect_to(config);
  EXPECT_TRUE(exchange(requester, plain_call(kVersionTwoXid)).results());
  requester.send(call(kVersionTwoXid));
  run_until([&] { return requester.down(); });
}
TEST_F(VersionTwoTest, VersionOneThatIgnoresTheMessage) {
  ResponderConfig config;
  config.other_versions = OtherVersions::ignore;
  auto& requester = connect_to(config);
  requester.send(call(kVersionTwoXid));
  expect_silence(requester);
}

// V2-2.3-1, V2-5.2-6, V2-5.1-1: receives have 4096 bytes before the first message, even where
// version 1 has less; a call and its reply of that size go inline.
TEST_F(VersionTwoTest, MessagesOf4096BytesGoInline) {
  ResponderConfig small = both();
  small.inline_size = 1024;
  auto& requester = agree(small);
  const std::size_t room = 4096 - rdma::kMinHeader - rpc::kAcceptedReplyHeader;
  answer_with_bytes(room);
  auto large = call(kVersionTwoXid);
  large.resize(4096);
  const auto reply = exchange(requester, large);
  EXPECT_EQ(reply.bytes.size(), 4096U);
  answer_with_bytes(room + 4);
  expect_error(requester, call(kVersionTwoXid), rdma::RDMA_ERR_BAD_HEADER);
}

// F-18: the first reply keeps to 1024 bytes.
TEST_F(VersionTwoTest, FirstReplyFitsAnyReceiver) {
  auto& requester = connect_to(both());
  answer_with_bytes(1024 - rdma::kMinHeader - rpc::kAcceptedReplyHeader + 4);
  expect_error(requester, call(kVersionTwoXid), rdma::RDMA_ERR_BAD_HEADER);
}

// V2-4.2-4, V2-3-1, V2-4.2-2, V2-4.2-9, F-6: reserved and undefined kinds get BAD_HEADER, in 20
// bytes.
TEST_F(VersionTwoTest, ReservedAndUndefinedKindsAreBadHeaders) {
  auto& requester = agree();
  for (const std::uint32_t proc : {2U, 3U, 6U, 0xffffffffU}) {
    EXPECT_EQ(exchange(requester, words({kVersionTwoXid, 2, 16, proc})).bytes,
              error(kVersionTwoXid, rdma::RDMA_ERR_BAD_HEADER));
  }
}

// V2-4.2-5: RDMA_MSG without a payload. V2-4.2-7: bytes behind RDMA_NOMSG are not looked at.
TEST_F(VersionTwoTest, PayloadAndKindBelongTogether) {
  auto& requester = agree();
  EXPECT_EQ(exchange(requester, words({kVersionTwoXid, 2, 16, rdma::RDMA_MSG, 0, 0, 0})).bytes,
            error(kVersionTwoXid, rdma::RDMA_ERR_BAD_HEADER));
  const auto message = rpc_call(kVersionTwoXid);
  auto& source = requester.expose(message.size(), fabric::Access::remote_read);
  std::copy(message.begin(), message.end(), source.memory().begin());
  auto header = header_of(kVersionTwoXid);
  header.proc = rdma::RDMA_NOMSG;
  header.chunks.add_read(0, source.segment());
  EXPECT_TRUE(exchange(requester, assemble(header, words({1, 2}))).results());
}

// F-3, V2-4.2-10: nothing shorter than its kind is answered; 24 bytes can be an option.
TEST_F(VersionTwoTest, ShortestMessages) {
  auto& requester = agree();
  const auto whole = option(0x7777, {});
  for (std::size_t length = 4; length < whole.size(); length += 4) {
    requester.send(std::span(whole).first(length));
  }
  requester.send(words({kVersionTwoXid, 2, 16, rdma::RDMA_MSG, 0, 0}));
  requester.send(words({kVersionTwoXid, 2, 16, rdma::RDMA_ERROR, 2}));
  expect_silence(requester);
  EXPECT_EQ(exchange(requester, whole).bytes, error(kOptionXid, rdma::RDMA_ERR_INVAL_OPTION));
}

// V2-3.1-3, V2-3.1-2, XP-4-2: unknown options, known ones that are switched off, and any option of
// a version 1 message.
TEST_F(VersionTwoTest, InvalidOptions) {
  ResponderConfig config = both();
  config.options = {false, true, false, false, false};
  auto& requester = agree(config);
  for (const std::uint32_t opttype : {0x7777U, 0U, 2U, 3U, 4U}) {
    EXPECT_EQ(exchange(requester, option(opttype, {})).bytes,
              error(kOptionXid, rdma::RDMA_ERR_INVAL_OPTION));
  }
  EXPECT_EQ(counters().errors_option.value(), 5U);
  EXPECT_EQ(exchange(requester, words({kVersionTwoXid, 1, 16, 5, 0, 0, 0})).bytes,
            words({kVersionTwoXid, 1, 16, rdma::RDMA_ERROR, rdma::ERR_CHUNK}))
      << "F-10: version 1 stays as it is";
}

// XP-2.1-3, XP-4-1, F-17: every truncation of every property message is answered or dropped; the
// connection and the properties stay.
TEST_F(VersionTwoTest, PropertyMessagesAtEveryTruncation) {
  auto& requester = agree();
  const Bytes infos[] = {words({2, 1, 4, 8192, 0xFFFFFF01, 3, 0x01020300, 1, 3}),
                         words({2, 1, 4, 8192, 3, 4, 1}), words({1, 1, 1, 2, 1, 1, 4, 8192}),
                         words({1, 1, 4, 8192})};
  for (std::uint32_t opttype = 1; opttype <= 4; ++opttype) {
    const auto whole = option(opttype, infos[opttype - 1]);
    for (std::size_t length = rdma::kMinOptional; length < whole.size(); ++length) {
      EXPECT_EQ(exchange(requester, std::span(whole).first(length)).bytes,
                error(kOptionXid, rdma::RDMA_ERR_BAD_HEADER))
          << opttype << " at " << length;
      // The same, as a whole message with less in it.
      const auto shorter = copy(std::span(whole)
                                    .subspan(rdma::kMinOptional)
                                    .first((length - rdma::kMinOptional) / 4 * 4));
      EXPECT_EQ(exchange(requester, option(opttype, shorter)).bytes,
                error(kOptionXid, rdma::RDMA_ERR_BAD_HEADER))
          << opttype << " with " << shorter.size();
    }
  }
  EXPECT_TRUE(exchange(requester, call(kVersionTwoXid)).results());
}

// XP-4.1-1, XP-4.1-7, F-14: nothing is said before the client has said something; then once.
TEST_F(VersionTwoTest, ConnpropIsAnsweredWithOne) {
  auto& requester = agree();
  expect_silence(requester);
  requester.send(connprop(8192));
  EXPECT_EQ(next_option(requester, rdma::ROPT_CONNPROP),
            words({3, 1, 4, 4096, 2, 4, 0, 3, 4, 1, 1, 0b110}));
  requester.send(connprop(8192));
  expect_silence(requester);
}

// XP-3.1-2, XP-3.1-1: a reply goes inline up to the client's receive size.
TEST_F(VersionTwoTest, RepliesFollowTheClientsReceiveSize) {
  auto& requester = agree();
  tell(requester, connprop(kLarge));
  const std::size_t room = kLarge - rdma::kMinHeader - rpc::kAcceptedReplyHeader;
  answer_with_bytes(room);
  EXPECT_EQ(exchange(requester, call(kVersionTwoXid)).bytes.size(), kLarge);
  answer_with_bytes(room + 4);
  expect_error(requester, call(kVersionTwoXid), rdma::RDMA_ERR_BAD_HEADER);
  requester.send(option(rdma::ROPT_UPDPROP, words({1, 1, 4, 2 * kLarge})));
  EXPECT_EQ(exchange(requester, call(kVersionTwoXid)).bytes.size(), kLarge + 4) << "XP-4.4-1";
}

// XP-3.2-1, XP-3.2-2: plain Send unless the client has said otherwise.
TEST_F(VersionTwoTest, InvalidationIsByProperty) {
  auto& requester = agree();
  answer_with({pattern(100)});
  for (const bool said : {false, true}) {
    if (said) tell(requester, connprop(4096, 1));
    auto& memory = sink(requester, 200);
    auto header = header_of(kVersionTwoXid + (said ? 1 : 0));
    header.chunks.add_write()->add(memory.segment());
    const auto reply = exchange(requester, assemble(header, rpc_call(header.rdma_xid)));
    EXPECT_EQ(reply.invalidated.has_value(), said);
    EXPECT_EQ(reply.invalidated.value_or(memory.segment().handle), memory.segment().handle);
  }
}

// XP-4.2-2, XP-3.1-3, XP-4.3-1, XP-4.3-4: a larger receive size is granted as far as it goes, and
// told when the last of the smaller receives has been used up, while calls go on.
TEST_F(VersionTwoTest, ReceiveSizeGrowsOnRequest) {
  ResponderConfig config = both();
  config.most_inline_size = kLarge;
  config.credits = 4;
  auto& requester = agree(config);
  tell(requester, connprop(4096));
  requester.send(option(rdma::ROPT_REQPROP, words({1, 1, 4, 65536}), 0x99));
  int calls = 0;
  for (;; ++calls) {
    ASSERT_LT(calls, 200) << "never granted";
    requester.send(call(kVersionTwoXid));
    const auto reply = next_reply(requester);
    if (reply.header.proc == rdma::RDMA_OPTIONAL) {
      EXPECT_EQ(reply.header.rdma_xid, 0x99U);
      EXPECT_EQ(copy(reply.header.optional.rdma_optinfo), words({1, 0, 1, 0, 1, 1, 4, kLarge}));
      EXPECT_TRUE(next_reply(requester).results());
      break;
    }
    EXPECT_TRUE(reply.results());
  }
  EXPECT_GE(calls, 12) << "there were at least so many small receives";
  auto large = call(kVersionTwoXid);
  large.resize(kLarge);
  EXPECT_TRUE(exchange(requester, large).results());
}

// XP-3-3: without room to grow every request is rejected.
TEST_F(VersionTwoTest, RequestsMayAllBeRejected) {
  auto& requester = agree();
  tell(requester, connprop(4096));
  requester.send(option(rdma::ROPT_REQPROP, words({3, 1, 4, 8192, 2, 4, 1, 3, 4, 2}), 0x99));
  EXPECT_EQ(next_option(requester, rdma::ROPT_RESPROP), words({1, 0, 1, 0b111, 0}));
  EXPECT_EQ(last_option_xid_, 0x99U);
}

// XP-4.4-1, XP-3.1-4, XP-4.3-2: the responder in the other role: it asks the client, and tells of a
// change of its own.
TEST_F(VersionTwoTest, ResponderAsksAndTells) {
  ResponderConfig config = both();
  config.most_inline_size = kLarge;
  auto& requester = agree(config);
  tell(requester, connprop(kLarge));
  EXPECT_TRUE(exchange(requester, call(kVersionTwoXid)).results());
  responder->request_receive_size(4096);
  EXPECT_EQ(next_option(requester, rdma::ROPT_REQPROP), words({1, 1, 4, 4096}));
  answer_with_bytes(4096);
  expect_error(requester, call(kVersionTwoXid),
               rdma::RDMA_ERR_BAD_HEADER);  // it keeps to less at once
  requester.send(option(rdma::ROPT_RESPROP, words({0, 1, 1, 0}), last_option_xid_));
  EXPECT_TRUE(exchange(requester, call(kVersionTwoXid)).results())
      << "rejected: the larger size holds";
  service.on_call = nullptr;
  responder->raise_receive_size(kLarge);
  bool told = false;
  for (int calls = 0; !told && calls < 400; ++calls) {
    requester.send(call(kVersionTwoXid));
    auto reply = next_reply(requester);
    if (reply.header.proc != rdma::RDMA_OPTIONAL) continue;
    told = true;
    EXPECT_EQ(copy(reply.header.optional.rdma_optinfo), words({1, 1, 4, kLarge}));
    EXPECT_EQ(reply.header.optional.rdma_opttype, rdma::ROPT_UPDPROP);
    next_reply(requester);
  }
  EXPECT_TRUE(told);
}

// F-2, XP-4.1-7: an error for an own option ends that option; one for nothing is dropped.
TEST_F(VersionTwoTest, ErrorsForOwnOptions) {
  auto& requester = agree();
  tell(requester, connprop(4096, 1));
  requester.send(words({last_option_xid_, 2, 16, rdma::RDMA_ERROR, 3}));
  expect_silence(requester);
  EXPECT_EQ(counters().dropped_error.value(), 0U);
  requester.send(words({last_option_xid_, 2, 16, rdma::RDMA_ERROR, 3}));
  expect_silence(requester);
  EXPECT_EQ(counters().dropped_error.value(), 1U);
}

// BD-17, V2-4.2-8, XP-3.3-1: callbacks have the version of the connection; none for a client that
// takes none; up to the client's receive size.
TEST_F(VersionTwoTest, CallbacksFollowVersionAndProperties) {
  Connection* connection = nullptr;
  auto& requester = connect_to(both());
  service.on_call = [&](ServerCall& served) {
    connection = &served.connection();
    served.reply(rpc::AcceptStat::success);
  };
  EXPECT_TRUE(exchange(requester, call(kVersionTwoXid)).results());
  int ended = 0;
  const auto call_back = [&](std::size_t bytes) {
    return connection->call_back(
        {.program = 0x40000001}, [bytes](xdr::Encoder& out) { out.reserve(bytes); },
        [&](Result<xdr::Decoder>) { ++ended; });
  };
  ASSERT_TRUE(call_back(8));
  const auto backward = next_reply(requester);
  EXPECT_EQ(backward.header.rdma_vers, 2U);
  EXPECT_TRUE(backward.header.chunks.all_absent());
  const auto xid = backward.header.rdma_xid;
  requester.send(assemble(header_of(xid), words({xid, 1, 0, 0, 0, 0})));
  run_until([&] { return ended == 1; });
  EXPECT_EQ(connection->max_backward_message(), 4096U);
  EXPECT_FALSE(call_back(4096));
  tell(requester, connprop(4096, 0, rdma::BKREQSUP_NONE));
  EXPECT_FALSE(call_back(8));
}

// The counters: messages by kind, options by type.
TEST_F(VersionTwoTest, MessagesAreCountedByKind) {
  auto& requester = agree();
  tell(requester, connprop(4096));
  const auto& messages = counters().messages;
  EXPECT_EQ(messages.received[rdma::RDMA_MSG].value(), 1U);
  EXPECT_EQ(messages.received[rdma::RDMA_OPTIONAL].value(), 1U);
  EXPECT_EQ(messages.options_received[rdma::ROPT_CONNPROP].value(), 1U);
  EXPECT_EQ(messages.options_sent[rdma::ROPT_CONNPROP].value(), 1U);
  EXPECT_EQ(messages.sent[rdma::RDMA_OPTIONAL].value(), 1U);
}

}  // namespace
}  // namespace nfsrdma::responder
