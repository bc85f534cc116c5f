// Slots and numbers whose fate the server leaves open, and the limits of a session, against a fake
// server in virtual time.
#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "client/requests/getattr.h"
#include "client/requests/remove.h"
#include "client/session/limits.h"
#include "client/session/session.h"
#include "tests/client/fake_mount.h"

namespace nfsrdma::client::test {
namespace {

using namespace nfs4;
using std::chrono::seconds;

/// A request begins with its XID, which is not the COMPOUND's.
constexpr std::size_t kXidBytes = 4;

class SessionSlots : public FakeMount {};

// RFC 8881 section 18.46.3: the answer to the request before would be taken for that to this one.
TEST_F(SessionSlots, AnAnswerToTheNumberBeforeIsNotTaken) {
  start();
  server_.on<SEQUENCE4args, SEQUENCE4res>([](const SEQUENCE4args& args, SEQUENCE4res& result) {
    result.sr_resok4 = {
        args.sa_sessionid, args.sa_sequenceid - 1, args.sa_slotid, kSlots - 1, kSlots - 1, 0};
  });
  auto attributes = run(getattr(mount(), {}, handle(1)));
  ASSERT_FALSE(attributes);
  EXPECT_EQ(attributes.error().layer, Layer::decode);
  EXPECT_STREQ(attributes.error().step, "SEQUENCE");
}

// RFC 8881 section 18.46.3: an error of SEQUENCE leaves the slot as it was. Its number is free, and
// needs no lone SEQUENCE before the next request can have it.
TEST_F(SessionSlots, ANumberThatTheServerHasRefusedIsForTheNextRequest) {
  start();
  server_.fail(OP_SEQUENCE, NFS4ERR_REQ_TOO_BIG, 1);
  ASSERT_FALSE(run(getattr(mount(), {}, handle(1))));
  ASSERT_TRUE(run(getattr(mount(), {}, handle(1))));
  reactor_.advance(seconds(1));
  const auto calls = arrivals();
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_EQ(calls[1].sequence->sa_slotid, calls[0].sequence->sa_slotid);
  EXPECT_EQ(calls[1].sequence->sa_sequenceid, calls[0].sequence->sa_sequenceid);
}

// A request is lost with its connection and refused on the next one: its slot is in doubt. The lone
// SEQUENCE is refused in a way that tells that another request has had the number (RFC 8881 section
// 2.10.6.1.3): that is all that is to be known, and no reason for another session.
class SlotInDoubt : public SessionSlots, public ::testing::WithParamInterface<nfsstat4> {};

TEST_P(SlotInDoubt, IsResolvedByWhatTellsThatItsNumberIsTaken) {
  start();
  server_.fate = [this](const Arrival& arrival) {
    if (!arrival.sequence) return Fate::answer;
    if (arrival.connection == 1) return Fate::disconnect_before;
    server_.fail(OP_SEQUENCE, arrival.has(OP_GETATTR) ? NFS4ERR_REQ_TOO_BIG : GetParam());
    return Fate::answer;
  };
  Pending<Result<Attributes>> refused(getattr(mount(), {}, handle(1)));
  reactor_.advance(seconds(2));
  ASSERT_TRUE(refused.done());
  EXPECT_FALSE(refused.value());
  EXPECT_EQ(arrivals().back().operations, std::vector{OP_SEQUENCE});
  EXPECT_EQ(counter("session_slots_resolved"), 1U);
  EXPECT_EQ(counter("session_losses"), 0U);
}

// As long as the server executes the request it tells nothing (RFC 8881 section 2.10.6.1.3): it is
// asked again. A slot that is forgotten instead is one less for the rest of the session.
TEST_P(SlotInDoubt, IsAskedAboutUntilTheServerCanTell) {
  start();
  int delays = 2;
  server_.fate = [&](const Arrival& arrival) {
    if (!arrival.sequence) return Fate::answer;
    if (arrival.connection == 1) return Fate::disconnect_before;
    const nfsstat4 lone = delays > 0 ? NFS4ERR_DELAY : GetParam();
    if (!arrival.has(OP_GETATTR)) --delays;
    server_.fail(OP_SEQUENCE, arrival.has(OP_GETATTR) ? NFS4ERR_REQ_TOO_BIG : lone);
    return Fate::answer;
  };
  Pending<Result<Attributes>> refused(getattr(mount(), {}, handle(1)));
  reactor_.advance(seconds(2));
  ASSERT_TRUE(refused.done());
  EXPECT_EQ(counter("session_slots_resolved"), 1U);
  EXPECT_EQ(counter("session_losses"), 0U);
  EXPECT_FALSE(mount().session().slots().take_in_doubt());
}

// No slot is given out until a new connection is bound.
TEST_P(SlotInDoubt, IsAskedAboutBehindABindingThatIsUnderWay) {
  start();
  server_.fate = [this](const Arrival& arrival) {
    if (!arrival.sequence) return arrival.connection == 3 ? Fate::hold : Fate::answer;
    if (arrival.connection == 1) return Fate::disconnect_before;
    server_.fail(OP_SEQUENCE, arrival.has(OP_GETATTR) ? NFS4ERR_REQ_TOO_BIG : GetParam());
    return Fate::answer;
  };
  Pending<Result<Attributes>> refused(getattr(mount(), {}, handle(1)));
  reactor_.settle();
  ASSERT_TRUE(refused.done());
  server_.disconnect();
  reactor_.advance(seconds(2));
  server_.release();
  reactor_.advance(seconds(2));
  EXPECT_EQ(counter("session_slots_resolved"), 1U);
  EXPECT_EQ(counter("session_losses"), 0U);
}

INSTANTIATE_TEST_SUITE_P(With, SlotInDoubt,
                         ::testing::Values(NFS4ERR_SEQ_FALSE_RETRY, NFS4ERR_RETRY_UNCACHED_REP));

/// What SEQUENCE may say of a request that the server is still executing for an earlier connection.
class RetryPutOff : public SessionSlots, public ::testing::WithParamInterface<nfsstat4> {};

// RFC 8881 section 2.10.6.1.3.1: a server may compare a retry with the request that has its slot
// and number. One that differs in sa_highest_slotid is a false retry, and the change is made again.
TEST_P(RetryPutOff, IsRepeatedInTheSameWords) {
  start();
  SlotTable& slots = mount().session().slots();
  SlotHold own = slots.take_for_recovery();
  SlotHold higher = slots.take_for_recovery();
  own.release();
  server_.fate = [&](const Arrival& arrival) {
    if (!arrival.has(OP_REMOVE)) return Fate::answer;
    if (arrival.connection == 1) return Fate::disconnect_before;
    if (higher) server_.fail(OP_SEQUENCE, GetParam());
    higher.release();
    return Fate::answer;
  };
  ASSERT_TRUE(run(remove(mount(), {}, handle(1), "f")));
  const auto calls = server_.arrivals_of(OP_REMOVE);
  ASSERT_EQ(calls.size(), 3U);
  for (const Arrival& call : calls) {
    const auto words = [](const Arrival& one) { return std::span(one.bytes).subspan(kXidBytes); };
    EXPECT_TRUE(std::ranges::equal(words(call), words(calls[0])));
    EXPECT_EQ(call.sequence->sa_highest_slotid, 1U);
  }
}

INSTANTIATE_TEST_SUITE_P(With, RetryPutOff,
                         ::testing::Values(NFS4ERR_DELAY, NFS4ERR_CONN_NOT_BOUND_TO_SESSION));

// Whatever the server finds different: it has had a request of this number, which was this one. The
// change is made again as one that may be done already.
TEST_F(SessionSlots, ARetryThatIsCalledFalseMayHaveBeenExecuted) {
  start();
  server_.on<SEQUENCE4args, SEQUENCE4res>([](const SEQUENCE4args& args, SEQUENCE4res& result) {
    result.sr_resok4 = {args.sa_sessionid, args.sa_sequenceid, args.sa_slotid,
                        kSlots - 1,        kSlots - 1,         0};
  });
  int retries = 0;
  server_.fate = [&](const Arrival& arrival) {
    if (!arrival.has(OP_REMOVE)) return Fate::answer;
    if (arrival.connection == 1) return Fate::disconnect_before;
    if (++retries == 1) server_.fail(OP_SEQUENCE, NFS4ERR_DELAY);
    if (retries == 2) server_.fail(OP_SEQUENCE, NFS4ERR_SEQ_FALSE_RETRY);
    if (retries == 3) server_.fail(OP_REMOVE, NFS4ERR_NOENT);
    return Fate::answer;
  };
  auto removed = run(remove(mount(), {}, handle(1), "f"));
  EXPECT_TRUE(removed) << removed.error().message();
  EXPECT_EQ(retries, 3);
  EXPECT_EQ(counter("session_requests_uncertain"), 1U);
}

// The server refuses to bind the session to a connection that lives: it is replaced, and with it go
// the slots of requests that are being executed. Their answers name a session that is no more.
TEST_F(SessionSlots, AChangeWhoseSessionIsReplacedMayHaveBeenExecuted) {
  start();
  server_.fate = [](const Arrival& arrival) {
    return arrival.has(OP_REMOVE) ? Fate::hold : Fate::answer;
  };
  Pending<Result<NameChange>> removing(remove(mount(), {}, handle(1), "f"));
  reactor_.settle();
  server_.fail(OP_SEQUENCE, NFS4ERR_CONN_NOT_BOUND_TO_SESSION);
  server_.fail(OP_BIND_CONN_TO_SESSION, NFS4ERR_INVAL);
  ASSERT_TRUE(run(getattr(mount(), {}, handle(1))));
  server_.fate = nullptr;
  server_.fail(OP_REMOVE, NFS4ERR_NOENT);
  server_.release();
  reactor_.settle();
  ASSERT_TRUE(removing.done());
  EXPECT_TRUE(removing.value()) << removing.value().error().message();
  EXPECT_EQ(server_.arrivals_of(OP_REMOVE).size(), 2U);
  EXPECT_EQ(counter("session_requests_uncertain"), 1U);
}

// RFC 8881 section 18.35.1: co_ownerid has NFS4_OPAQUE_LIMIT bytes at most.
TEST_F(SessionSlots, AnIdentityThatIsTooLongIsCut) {
  MountConfig config;
  config.identity = std::string(NFS4_OPAQUE_LIMIT + 1, 'x');
  configure(config);
  start();
  const auto exchange = server_.arrivals_of(OP_EXCHANGE_ID).at(0);
  // With its length in front: the verifier before it has any bytes.
  std::vector<std::byte> cut(4 + NFS4_OPAQUE_LIMIT, std::byte{'x'});
  xdr::Encoder(cut).u32(NFS4_OPAQUE_LIMIT);
  EXPECT_FALSE(std::ranges::search(exchange.bytes, cut).empty());
}

// Slots in doubt are in nobody's use, and nobody can have them: a request that a program waits for
// must not find those that are left taken by reading ahead.
TEST_F(SessionSlots, ThereIsNoRoomAsLongAsARequestWaitsForASlot) {
  start();
  Session& session = mount().session();
  SlotTable& slots = session.slots();
  EXPECT_TRUE(session.has_room(2));
  SlotHold in_use = slots.take_for_recovery();
  std::vector<SlotHold> given_up;
  for (std::uint32_t i = 1; i < kSlots; ++i) given_up.push_back(slots.take_for_recovery());
  for (SlotHold& slot : given_up) slot->record_sent(reactor_.now());
  given_up.clear();
  Pending<Result<Attributes>> waiting(getattr(mount(), {}, handle(1)));
  reactor_.settle();
  EXPECT_FALSE(waiting.done());
  EXPECT_FALSE(session.has_room(2));
  while (SlotHold slot = slots.take_in_doubt()) slot->record_not_taken();
  in_use.release();
  reactor_.settle();
  EXPECT_TRUE(waiting.done());
}

TEST_F(SessionSlots, ASessionThatTwoRequestsFindGoneIsLostOnce) {
  start();
  server_.forget(false);
  server_.fate = [](const Arrival&) { return Fate::hold; };
  Pending<Result<Attributes>> one(getattr(mount(), {}, handle(1)));
  Pending<Result<Attributes>> other(getattr(mount(), {}, handle(1)));
  reactor_.settle();
  server_.fate = nullptr;
  server_.release();
  reactor_.settle();
  ASSERT_TRUE(one.done() && other.done());
  EXPECT_TRUE(one.value() && other.value());
  EXPECT_EQ(counter("session_losses"), 1U);
}

// RFC 8881 section 5.8.2 (maxread, maxwrite): no READ gives and no WRITE takes more than that.
TEST(LimitsTest, AreThoseOfTheFileSystemInEverySession) {
  const RequestedLimits requested{1 << 20, 1 << 20, 8};
  const channel_attrs4 granted = fore_channel_request(requested);
  Limits limits;
  limits.apply_session(granted, requested);
  EXPECT_EQ(limits.rsize, 1U << 20);
  EXPECT_EQ(limits.wsize, 1U << 20);
  limits.apply_file_system(1 << 17, 1 << 16);
  for (int sessions = 0; sessions < 2; ++sessions) {
    EXPECT_EQ(limits.rsize, 1U << 17);
    EXPECT_EQ(limits.wsize, 1U << 16);
    limits.apply_session(granted, requested);
  }
}

}  // namespace
}  // namespace nfsrdma::client::test
