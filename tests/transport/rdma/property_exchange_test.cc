// Transport properties (xcharext-03): the bytes of each operation, in both roles, and what follows
// from them.
#include "transport/rdma/property_exchange.h"

#include <gtest/gtest.h>

#include <functional>
#include <numeric>

#include "tests/support/legal_support.h"
#include "tests/transport/rdma/harness.h"

namespace nfsrdma::test {
namespace {

using rdma::OptionAnswer;
using rdma::ROPT_CONNPROP;
using rdma::ROPT_REQPROP;
using rdma::ROPT_RESPROP;
using rdma::ROPT_UPDPROP;

constexpr std::uint32_t kExperimental = 0xFFFFFF01;
constexpr std::uint32_t kPeersXid = 0x77;

/// A connection that only takes note.
class Host final : public rdma::PropertyHost {
 public:
  struct Sent {
    std::uint32_t xid;
    std::uint32_t opttype;
    Bytes optinfo;
  };
  bool may_send_optional() override { return may_send; }
  std::uint32_t optional_xid() override { return ++last_xid; }
  void send_optional(std::uint32_t xid, const rdma::RdmaOptional& optional) override {
    sent.push_back({xid, optional.rdma_opttype,
                    Bytes(optional.rdma_optinfo.begin(), optional.rdma_optinfo.end())});
  }
  bool raise_receives(std::uint32_t size) override {
    raised_to = size;
    return drained;
  }
  void on_properties_changed() override { ++changes; }

  bool may_send = true;
  bool drained = true;
  std::uint32_t raised_to = 0;
  std::uint32_t last_xid = 0x1000;
  int changes = 0;
  std::vector<Sent> sent;
};

Bytes join(std::initializer_list<Bytes> parts) {
  Bytes all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

Bytes value(std::uint32_t which, std::uint32_t word) { return words({which, 4, word}); }
/// A set of one receive size.
Bytes size_set(std::uint32_t size) { return words({1, 1, 4, size}); }
/// CONNPROP of a peer with one receive size, which may change.
Bytes peer_connprop(std::uint32_t size) { return join({size_set(size), words({0})}); }

class Exchange : public testing::Test {
 protected:
  static rdma::PropertyPolicy policy() {
    rdma::PropertyPolicy policy;
    policy.own.requester_remote_invalidation = 1;
    policy.most_receive = 32768;
    return policy;
  }
  /// Starts with everything said that is said unasked.
  rdma::PropertyExchange& start(const rdma::PropertyPolicy& policy) {
    exchange_.emplace(host_, policy);
    exchange_->start();
    exchange_->on_later_message();
    return *exchange_;
  }
  rdma::PropertyExchange& start() { return start(policy()); }
  OptionAnswer deliver(std::uint32_t opttype, const Bytes& optinfo, std::size_t payload = 0) {
    return exchange_->on_optional(kPeersXid, {opttype, optinfo}, payload);
  }
  const Host::Sent& last() const { return host_.sent.back(); }
  /// The bytes of the RESPROP that a REQPROP got, which must be exactly one.
  Bytes answer_to(const Bytes& want) {
    const std::size_t before = host_.sent.size();
    EXPECT_EQ(deliver(ROPT_REQPROP, want), OptionAnswer::none);
    EXPECT_EQ(host_.sent.size(), before + 1);
    EXPECT_EQ(last().opttype, ROPT_RESPROP);
    EXPECT_EQ(last().xid, kPeersXid);
    return last().optinfo;
  }

  Host host_;
  std::optional<rdma::PropertyExchange> exchange_;
};

// XP-2.1-1, XP-2.1-8, XP-2.1-9, XP-4.1-1, XP-4.1-3, XP-4.1-4, XP-1.3-1, F-15: the three basic
// properties of 12 bytes each; bits of the subset are places in the set, and a set bit says that
// the value stays. With its header the message has 72 bytes.
TEST_F(Exchange, ConnpropByteForByte) {
  start();
  ASSERT_EQ(host_.sent.size(), 1u);
  EXPECT_EQ(last().opttype, ROPT_CONNPROP);
  EXPECT_EQ(last().optinfo, words({3, 1, 4, 4096, 2, 4, 1, 3, 4, rdma::BKREQSUP_INLINE, 1, 0b110}));
  EXPECT_EQ(rdma::kMinOptional + last().optinfo.size(), 72u);
}

// XP-3-1, F-16: what holds where nothing was exchanged.
TEST_F(Exchange, Defaults) {
  rdma::PropertyPolicy silent = policy();
  silent.supports.fill(false);
  const auto& exchange = start(silent);
  EXPECT_TRUE(host_.sent.empty());
  for (const auto* side : {&exchange.own(), &exchange.peer()}) {
    EXPECT_EQ(side->receive_buffer_size, 4096u);
    EXPECT_EQ(side->requester_remote_invalidation, 0u);
    EXPECT_EQ(side->backward_request_support, rdma::BKREQSUP_INLINE);
  }
  EXPECT_EQ(exchange.send_limit(), 4096u);
}

// XP-2.1-2, XP-3.3-1, XP-3.2-3, F-16: values are taken as told; no data means the default.
TEST_F(Exchange, PeersConnpropIsTaken) {
  auto& exchange = start();
  EXPECT_EQ(deliver(ROPT_CONNPROP,
                    join({words({3}), value(1, 8192), value(2, 1), value(3, 0), words({0})})),
            OptionAnswer::none);
  EXPECT_EQ(exchange.peer().receive_buffer_size, 8192u);
  EXPECT_EQ(exchange.peer().requester_remote_invalidation, 1u);
  EXPECT_EQ(exchange.peer().backward_request_support, rdma::BKREQSUP_NONE);
  EXPECT_EQ(exchange.send_limit(), 8192u);
  deliver(ROPT_CONNPROP, words({1, 1, 0, 0}));
  EXPECT_EQ(exchange.peer().receive_buffer_size, 4096u);
}

// XP-2.1-6, XP-2.1-7, XP-4.1-6, XP-6.1-1, XP-6.2-1: any order; unknown and experimental ids are
// passed over without a word; of duplicates the last counts.
TEST_F(Exchange, OrderAndUnknownIdsDoNotMatter) {
  std::vector<Bytes> set = {value(1, 16384), value(2, 1), words({kExperimental, 5, 1, 0}),
                            words({4711, 0})};
  std::sort(set.begin(), set.end());
  do {
    Host host;
    rdma::PropertyExchange exchange(host, policy());
    exchange.start();
    const Bytes info = join({words({4}), set[0], set[1], set[2], set[3], words({0})});
    EXPECT_EQ(exchange.on_optional(1, {ROPT_CONNPROP, info}, 0), OptionAnswer::none);
    EXPECT_EQ(exchange.peer().receive_buffer_size, 16384u);
    EXPECT_EQ(exchange.peer().requester_remote_invalidation, 1u);
  } while (std::next_permutation(set.begin(), set.end()));
  auto& exchange = start();
  deliver(ROPT_CONNPROP, join({words({2}), value(1, 8192), value(1, 16384), words({0})}));
  EXPECT_EQ(exchange.peer().receive_buffer_size, 16384u);
  const std::size_t before = host_.sent.size();
  EXPECT_EQ(deliver(ROPT_CONNPROP, join({words({1}), words({kExperimental, 0}), words({0})})),
            OptionAnswer::none);
  EXPECT_EQ(host_.sent.size(), before) << "nothing is said about it";
}

// XP-2.1-3, XP-2.1-4, XP-2.1-5, XP-4-1, F-17: every damage is an XDR error, and changes nothing.
TEST_F(Exchange, MalformedMessagesAreXdrErrors) {
  auto& exchange = start();
  const Bytes good = peer_connprop(8192);
  const struct {
    const char* what;
    std::uint32_t opttype;
    Bytes optinfo;
    std::size_t payload = 0;
  } kDamaged[] = {
      {"data past the message", ROPT_CONNPROP, words({1, 1, 0x80000000, 8192, 0})},
      {"more properties than bytes", ROPT_CONNPROP, words({9, 1, 4, 8192, 0})},
      {"backward support 9", ROPT_CONNPROP, words({1, 3, 4, 9, 0})},
      {"boolean 2", ROPT_CONNPROP, words({1, 2, 4, 2, 0})},
      {"two bytes of a size", ROPT_CONNPROP, words({1, 1, 2, 0x00100000, 0})},
      {"eight bytes of a size", ROPT_CONNPROP, words({1, 1, 8, 8192, 0, 0})},
      {"no subset", ROPT_CONNPROP, size_set(8192)},
      {"subset past the message", ROPT_CONNPROP, words({1, 1, 4, 8192, 2, 1})},
      {"bytes behind", ROPT_CONNPROP, join({good, words({0})})},
      {"empty", ROPT_CONNPROP, {}},
      {"empty", ROPT_REQPROP, {}},
      {"empty", ROPT_RESPROP, {}},
      {"empty", ROPT_UPDPROP, {}},
      {"a payload", ROPT_CONNPROP, good, 4},
      {"a bad value wanted", ROPT_REQPROP, words({1, 3, 4, 9})},
      {"a bad value instead", ROPT_RESPROP, words({0, 0, 1, 2, 4, 7})},
      {"a bad new value", ROPT_UPDPROP, words({1, 2, 4, 7})},
  };
  const std::size_t before = host_.sent.size();
  for (const auto& damaged : kDamaged) {
    EXPECT_EQ(deliver(damaged.opttype, damaged.optinfo, damaged.payload), OptionAnswer::bad_header)
        << damaged.what;
  }
  EXPECT_EQ(host_.sent.size(), before);
  EXPECT_EQ(exchange.peer().receive_buffer_size, 4096u);
  EXPECT_EQ(exchange.own().receive_buffer_size, 4096u);
}

// XP-2.1-3: every operation, cut at every byte.
TEST_F(Exchange, EveryTruncationIsAnXdrError) {
  start();
  const std::pair<std::uint32_t, Bytes> kMessages[] = {
      {ROPT_CONNPROP, join({words({2}), value(1, 8192), words({kExperimental, 4, 1, 1, 3})})},
      {ROPT_REQPROP, join({words({2}), value(1, 8192), value(3, 1)})},
      {ROPT_RESPROP, join({words({1, 1, 1, 2, 1}), value(1, 8192)})},
      {ROPT_UPDPROP, size_set(8192)},
  };
  for (const auto& [opttype, whole] : kMessages) {
    for (std::size_t length = 0; length < whole.size(); ++length) {
      const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
      EXPECT_EQ(deliver(opttype, cut), OptionAnswer::bad_header) << opttype << " at " << length;
    }
    EXPECT_EQ(deliver(opttype, whole), OptionAnswer::none) << opttype;
  }
}

// XP-4-2, V2-3.1-2: an operation that is unknown, or not supported, is an invalid option, whatever
// its bytes are.
TEST_F(Exchange, UnsupportedOperationsAreInvalidOptions) {
  for (std::uint32_t off = ROPT_CONNPROP; off <= ROPT_UPDPROP; ++off) {
    rdma::PropertyPolicy without = policy();
    without.supports[off] = false;
    start(without);
    EXPECT_EQ(deliver(off, {}), OptionAnswer::inval_option);
  }
  for (const std::uint32_t unknown : {0u, 5u, 0x7777u, 0xFFFFFFFFu}) {
    EXPECT_EQ(deliver(unknown, {}), OptionAnswer::inval_option);
  }
}

// XP-4-3, XP-4-4
TEST(PropertySupport, IllegalChoicesAreKnown) {
  EXPECT_TRUE(rdma::is_legal_support({false, true, true, true, true}));
  EXPECT_TRUE(rdma::is_legal_support({false, false, false, false, false}));
  EXPECT_TRUE(rdma::is_legal_support({false, true, false, false, false}));
  EXPECT_TRUE(rdma::is_legal_support({false, true, false, true, false}));
  EXPECT_FALSE(rdma::is_legal_support({false, true, true, false, false}));
  EXPECT_FALSE(rdma::is_legal_support({false, false, false, true, false}));
  EXPECT_FALSE(rdma::is_legal_support({false, false, false, false, true}));
}

// XP-4.2-2, XP-4.3-1, XP-4.3-2, XP-4.3-3, XP-4.3-4, XP-4.3-6, XP-3-3: done, rejected, in part.
TEST_F(Exchange, RequestsAreAnsweredPropertyByProperty) {
  auto& exchange = start();
  EXPECT_EQ(answer_to(size_set(16384)), words({1, 1, 1, 0, 0})) << "done";
  EXPECT_EQ(exchange.own().receive_buffer_size, 16384u);
  EXPECT_EQ(answer_to(size_set(65536)), join({words({1, 0, 1, 0, 1}), value(1, 32768)})) << "other";
  EXPECT_EQ(answer_to(size_set(65536)), words({1, 0, 1, 1, 0})) << "no further: rejected";
  EXPECT_EQ(answer_to(join({words({3}), words({kExperimental, 0}), value(2, 0), value(3, 2)})),
            words({1, 0, 1, 0b111, 0}))
      << "unknown, and not to be changed";
  EXPECT_EQ(answer_to(join({words({2}), value(2, 1), value(1, 8192)})), words({1, 0b11, 1, 0, 0}))
      << "what is so already, and less";
  EXPECT_EQ(answer_to(words({0})), words({0, 0, 0})) << "nothing";
}

// XP-2.1-8: 33 properties need two words; the last is bit 0 of the second.
TEST_F(Exchange, SubsetsHaveAsManyWordsAsTheyNeed) {
  start();
  Bytes want = words({33});
  for (std::uint32_t i = 0; i < 32; ++i) want = join({want, words({kExperimental, 0})});
  want = join({want, value(1, 8192)});
  EXPECT_EQ(answer_to(want), words({2, 0, 1, 2, 0xFFFFFFFF, 0, 0}));
}

// XP-3.1-3, XP-3.1-1, XP-3-5: a larger receive size is told when no smaller receive is left, and
// not before; a request for one waits for its answer until then.
TEST_F(Exchange, RaisedSizeIsToldWhenOlderReceivesAreUsedUp) {
  auto& exchange = start();
  host_.drained = false;
  const std::size_t before = host_.sent.size();
  deliver(ROPT_REQPROP, size_set(8192));
  EXPECT_EQ(host_.raised_to, 8192u);
  EXPECT_EQ(host_.sent.size(), before);
  EXPECT_EQ(exchange.own().receive_buffer_size, 4096u);
  exchange.on_receives_raised();
  EXPECT_EQ(last().optinfo, words({1, 1, 1, 0, 0}));
  EXPECT_EQ(exchange.own().receive_buffer_size, 8192u);
  EXPECT_EQ(host_.sent.size(), before + 1);
}

// XP-4.4-1, XP-2.3-1: a change of one's own is told by UPDPROP, which has no answer.
TEST_F(Exchange, UpdpropTellsOfAnOwnChange) {
  auto& exchange = start();
  host_.drained = false;
  const std::size_t before = host_.sent.size();
  exchange.update_receive_size(32768);
  EXPECT_EQ(host_.sent.size(), before);
  exchange.on_receives_raised();
  ASSERT_EQ(host_.sent.size(), before + 1);
  EXPECT_EQ(last().opttype, ROPT_UPDPROP);
  EXPECT_EQ(last().optinfo, size_set(32768));
  EXPECT_EQ(exchange.own().receive_buffer_size, 32768u);
}

// XP-4.2-2: a second request while the first waits: each gets exactly one answer.
TEST_F(Exchange, RequestThatOvertakesAnotherEndsIt) {
  auto& exchange = start();
  host_.drained = false;
  deliver(ROPT_REQPROP, size_set(8192));
  const std::size_t before = host_.sent.size();
  exchange.on_optional(kPeersXid + 1, {ROPT_REQPROP, size_set(16384)}, 0);
  ASSERT_EQ(host_.sent.size(), before + 2);
  EXPECT_EQ(host_.sent[before].xid, kPeersXid);
  EXPECT_EQ(host_.sent[before].optinfo, words({1, 0, 1, 1, 0}));
  EXPECT_EQ(host_.sent[before + 1].xid, kPeersXid + 1);
  exchange.on_receives_raised();
  EXPECT_EQ(last().opttype, ROPT_UPDPROP) << "the raise goes on all the same";
}

class Request : public Exchange {
 protected:
  /// Has asked the peer, which takes 4096 bytes, for 65536.
  void SetUp() override {
    rdma::PropertyPolicy wanting = policy();
    wanting.wanted_receive = 65536;
    start(wanting);
    deliver(ROPT_CONNPROP, peer_connprop(4096));
    ASSERT_EQ(last().opttype, ROPT_REQPROP);
  }
  std::uint32_t after(const Bytes& resprop) {
    const std::uint32_t xid = last().xid;
    EXPECT_EQ(exchange_->on_optional(xid, {ROPT_RESPROP, resprop}, 0), OptionAnswer::none);
    return exchange_->send_limit();
  }
};

// XP-4.2-1, XP-4.3-2
TEST_F(Request, Done) {
  EXPECT_EQ(last().optinfo, size_set(65536));
  EXPECT_EQ(after(words({1, 1, 0, 0})), 65536u);
}
TEST_F(Request, Rejected) { EXPECT_EQ(after(words({0, 1, 1, 0})), 4096u); }
// XP-4.3-4
TEST_F(Request, GrantedInPart) { EXPECT_EQ(after(join({words({0, 0}), size_set(16384)})), 16384u); }
// XP-4.3-7: what is missing, or in two of the three, is rejected.
TEST_F(Request, Missing) { EXPECT_EQ(after(words({0, 0, 0})), 4096u); }
TEST_F(Request, DoneAndRejected) { EXPECT_EQ(after(words({1, 1, 1, 1, 0})), 4096u); }
TEST_F(Request, DoneAndOther) {
  EXPECT_EQ(after(join({words({1, 1, 0}), size_set(16384)})), 4096u);
}
TEST_F(Request, RejectedAndOther) {
  EXPECT_EQ(after(join({words({0, 1, 1}), size_set(16384)})), 4096u);
}
// XP-4.3-5: a value that was not asked for is ignored, the rest is honoured.
TEST_F(Request, ForeignValueIsIgnored) {
  EXPECT_EQ(after(join({words({1, 1, 0, 1}), value(2, 1)})), 65536u);
  EXPECT_EQ(exchange_->peer().requester_remote_invalidation, 0u);
}
// XP-4.3-1
TEST_F(Request, AnswerWithAnotherXidIsDropped) {
  const int changes = host_.changes;
  EXPECT_EQ(exchange_->on_optional(last().xid + 1, {ROPT_RESPROP, words({1, 1, 0, 0})}, 0),
            OptionAnswer::none);
  EXPECT_EQ(exchange_->send_limit(), 4096u);
  EXPECT_EQ(host_.changes, changes);
  EXPECT_EQ(after(words({1, 1, 0, 0})), 65536u) << "the right one still counts";
  EXPECT_EQ(after(words({0, 1, 1, 0})), 65536u) << "and only once";
}
// XP-3-4, V2-3.1-4, B4-9.1-1: an invalid option is the same as everything rejected, and is not
// tried again.
TEST_F(Request, NotSupportedByThePeer) {
  EXPECT_TRUE(exchange_->on_error(last().xid, rdma::RDMA_ERR_INVAL_OPTION));
  EXPECT_EQ(exchange_->send_limit(), 4096u);
  const std::size_t before = host_.sent.size();
  exchange_->request_receive_size(16384);
  deliver(ROPT_CONNPROP, peer_connprop(4096));
  EXPECT_EQ(host_.sent.size(), before);
}
// F-14, B4-9.4-1: at most one message of ours is open.
TEST_F(Request, NothingElseIsSentMeanwhile) {
  const std::size_t before = host_.sent.size();
  exchange_->update_receive_size(16384);
  exchange_->on_later_message();
  EXPECT_EQ(host_.sent.size(), before);
  after(words({1, 1, 0, 0}));
  EXPECT_EQ(last().opttype, ROPT_UPDPROP);
}

// XP-3.1-4: a peer that asks for less keeps to it from the request on, until it is rejected or more
// is told.
TEST_F(Exchange, SmallerSizeHoldsFromTheRequestOn) {
  auto& exchange = start();
  deliver(ROPT_CONNPROP, peer_connprop(32768));
  EXPECT_EQ(exchange.send_limit(), 32768u);
  exchange.request_receive_size(8192);
  EXPECT_EQ(exchange.send_limit(), 8192u);
  exchange.on_optional(last().xid, {ROPT_RESPROP, words({0, 1, 1, 0})}, 0);
  EXPECT_EQ(exchange.send_limit(), 32768u);
}

// XP-4.1-5: what the peer has not listed, or says will stay, is not asked for; it may not change
// what it has not listed.
TEST_F(Exchange, OnlyListedPropertiesChange) {
  rdma::PropertyPolicy wanting = policy();
  wanting.wanted_receive = 65536;
  auto& exchange = start(wanting);
  const std::size_t before = host_.sent.size();
  deliver(ROPT_CONNPROP, join({words({1}), value(2, 1), words({0})}));
  deliver(ROPT_UPDPROP, size_set(8192));
  EXPECT_EQ(exchange.send_limit(), 4096u);
  deliver(ROPT_CONNPROP, join({size_set(4096), words({1, 1})}));
  EXPECT_EQ(host_.sent.size(), before);
  deliver(ROPT_UPDPROP, size_set(8192));
  EXPECT_EQ(exchange.send_limit(), 8192u) << "listed; nothing guards what was said to stay";
}

// XP-3-2: a peer that does not know CONNPROP has taken note of nothing: defaults on both sides.
TEST_F(Exchange, RefusedConnpropMeansDefaults) {
  rdma::PropertyPolicy large = policy();
  large.own.receive_buffer_size = 32768;
  auto& exchange = start(large);
  EXPECT_EQ(exchange.own().receive_buffer_size, 32768u);
  EXPECT_TRUE(exchange.on_error(last().xid, rdma::RDMA_ERR_INVAL_OPTION));
  EXPECT_EQ(exchange.own().receive_buffer_size, 4096u);
  EXPECT_EQ(exchange.own().requester_remote_invalidation, 0u);
  EXPECT_FALSE(exchange.on_error(last().xid, rdma::RDMA_ERR_INVAL_OPTION)) << "answered already";
  EXPECT_FALSE(exchange.on_error(0x4711, rdma::RDMA_ERR_BAD_HEADER));
}

// XP-7-1: no peer makes this side send less than version 2 guarantees, or more than it bears.
TEST_F(Exchange, SizesOfThePeerStayWithinLimits) {
  auto& exchange = start();
  for (const std::uint32_t small : {0u, 1u, 16u, 4095u}) {
    deliver(ROPT_CONNPROP, peer_connprop(small));
    EXPECT_EQ(exchange.send_limit(), 4096u);
  }
  deliver(ROPT_CONNPROP, peer_connprop(0xFFFFFFFF));
  EXPECT_EQ(exchange.send_limit(), 65536u);
  EXPECT_EQ(answer_to(size_set(16)), words({1, 0, 1, 1, 0})) << "never below 4096";
}

// XP-3.3-2: a server that says nothing is taken at its calls.
TEST_F(Exchange, BackwardSupportIsInferredFromCalls) {
  auto& exchange = start();
  exchange.infer_backward_support(false);
  EXPECT_EQ(exchange.peer().backward_request_support, rdma::BKREQSUP_INLINE);
  exchange.infer_backward_support(true);
  EXPECT_EQ(exchange.peer().backward_request_support, rdma::BKREQSUP_GENL);
  deliver(ROPT_CONNPROP, join({words({1}), value(3, 1), words({0})}));
  exchange.infer_backward_support(true);
  EXPECT_EQ(exchange.peer().backward_request_support, rdma::BKREQSUP_INLINE);
}

// F-14, XP-4.1-4: one end speaks first, after the first good reply; the other answers with its own.
TEST_F(Exchange, SecondSpeakerAnswersWithItsOwn) {
  rdma::PropertyPolicy second = policy();
  second.speaks_first = false;
  start(second);
  EXPECT_TRUE(host_.sent.empty());
  deliver(ROPT_CONNPROP, peer_connprop(4096));
  ASSERT_EQ(host_.sent.size(), 1u);
  EXPECT_EQ(last().opttype, ROPT_CONNPROP);
  exchange_->on_later_message();
  deliver(ROPT_CONNPROP, peer_connprop(8192));
  EXPECT_EQ(host_.sent.size(), 1u) << "once";
}

// F-14: what may not go out waits.
TEST_F(Exchange, WaitsUntilItMaySend) {
  host_.may_send = false;
  auto& exchange = start();
  EXPECT_TRUE(host_.sent.empty());
  EXPECT_EQ(exchange.own().requester_remote_invalidation, 0u) << "the peer does not know yet";
  host_.may_send = true;
  exchange.on_later_message();
  EXPECT_EQ(host_.sent.size(), 1u);
  EXPECT_EQ(exchange.own().requester_remote_invalidation, 1u);
}

}  // namespace
}  // namespace nfsrdma::test
