// Opens that share a stateid, and the races between OPEN, CLOSE and OPEN_DOWNGRADE.
#include "client/files/locked_io.h"
#include "client/requests/read.h"
#include "tests/client/open_fixture.h"

namespace nfsrdma::client::test {
namespace {

TEST_F(OpenTest, WantsADelegationAndGetsAHandle) {
  start();
  OpenRef ref = must_open(kRead);
  EXPECT_EQ(last_open_, kRead | OPEN4_SHARE_ACCESS_WANT_READ_DELEG);
  // E-8881-15: GETFH follows OPEN.
  EXPECT_EQ(arrivals()[0].operations,
            (std::vector{OP_SEQUENCE, OP_PUTFH, OP_OPEN, OP_GETFH, OP_ACCESS, OP_GETATTR}));
  EXPECT_TRUE(must_close(std::move(ref)));
}

TEST_F(OpenTest, InputAndOutputUseTheCurrentStateid) {
  start();
  OpenRef first = must_open(kRead);
  OpenRef second = must_open(kRead);
  EXPECT_EQ(first->stateid().seqid, 0U);
  EXPECT_EQ(first->stateid(), second->stateid());
  EXPECT_TRUE(must_close(std::move(first)));
  EXPECT_EQ(server_.executions_of(OP_CLOSE), 0U);
  EXPECT_TRUE(must_close(std::move(second)));
  EXPECT_EQ(server_.executions_of(OP_CLOSE), 1U);
}

TEST_F(OpenTest, DowngradesToWhatIsStillNeeded) {
  start();
  OpenRef both = must_open(kBoth);
  OpenRef reader = must_open(kRead);
  OpenRef writer = must_open(kWrite);
  EXPECT_TRUE(must_close(std::move(both)));
  EXPECT_EQ(server_.executions_of(OP_OPEN_DOWNGRADE), 0U) << "both are still needed";
  EXPECT_TRUE(must_close(std::move(writer)));
  EXPECT_EQ(downgraded_to_, kRead);
  EXPECT_EQ(reader->share_access(), kRead);
  EXPECT_TRUE(must_close(std::move(reader)));
  EXPECT_EQ(counter("open_files"), 0U);
}

TEST_F(OpenTest, UsersHaveOpenOwnersOfTheirOwn) {
  start();
  OpenRef mine = must_open(kRead, 1000);
  const auto my_owner = owner_;
  state_ = {};
  OpenRef yours = must_open(kRead, 1001);
  EXPECT_NE(my_owner, owner_);
  EXPECT_NE(&*mine, &*yours);
  EXPECT_EQ(counter("open_files"), 2U);
  EXPECT_TRUE(must_close(std::move(yours)));
  (void)must_close(std::move(mine));
}

// Some servers let a CLOSE that an OPEN has made old end both: the two never cross where the file
// is known.
TEST_F(OpenTest, ACloseWaitsForAnOpenUnderWayAndIsNotNeededThen) {
  start();
  OpenRef first = must_open(kRead);
  server_.fate = [](const Arrival& arrival) {
    return arrival.has(OP_OPEN) ? Fate::hold : Fate::answer;
  };
  Pending<Result<Opened>> opening(open(mount(), {}, handle(1), kRead));
  reactor_.settle();
  Pending<Result<void>> closing(mount().opens().close(std::move(first)));
  reactor_.advance(std::chrono::seconds(1));
  EXPECT_FALSE(closing.done());
  EXPECT_TRUE(server_.arrivals_of(OP_CLOSE).empty());
  server_.release();
  reactor_.settle();
  ASSERT_TRUE(opening.done() && closing.done());
  ASSERT_TRUE(opening.value());
  EXPECT_TRUE(closing.value());
  EXPECT_TRUE(server_.arrivals_of(OP_CLOSE).empty()) << "the file is in use";
  server_.fate = nullptr;
  EXPECT_TRUE(must_close(std::move(opening.value()->open)));
  EXPECT_EQ(counter("closes"), 1U);
  EXPECT_EQ(counter("open_old_stateids"), 0U);
  EXPECT_EQ(counter("open_files"), 0U);
}

TEST_F(OpenTest, AnOpenWaitsForACloseUnderWay) {
  start();
  OpenRef first = must_open(kRead);
  server_.fate = [](const Arrival& arrival) {
    return arrival.has(OP_CLOSE) ? Fate::hold : Fate::answer;
  };
  Pending<Result<void>> closing(mount().opens().close(std::move(first)));
  reactor_.settle();
  Pending<Result<Opened>> opening(open(mount(), {}, handle(1), kRead));
  Pending<Result<Opened>> another(open(mount(), {}, handle(1), kWrite));
  reactor_.advance(std::chrono::seconds(1));
  EXPECT_EQ(server_.executions_of(OP_OPEN), 1U);
  server_.fate = nullptr;
  server_.release();
  reactor_.settle();
  ASSERT_TRUE(closing.done() && opening.done() && another.done());
  EXPECT_TRUE(closing.value());
  ASSERT_TRUE(opening.value() && another.value());
  EXPECT_EQ(opening.value()->open->stateid().other, state_.other);
  EXPECT_TRUE(must_close(std::move(opening.value()->open)));
  EXPECT_TRUE(must_close(std::move(another.value()->open)));
  EXPECT_EQ(counter("open_files"), 0U);
}

// The request of a CLOSE is used again by others, for which a program waits.
TEST_F(OpenTest, WhatFollowsAnUnhurriedCloseIsPrompt) {
  start();
  EXPECT_TRUE(must_close(must_open(kRead)));
  EXPECT_TRUE(must_close(must_open(kRead)));
  const auto opens = server_.arrivals_of(OP_OPEN);
  ASSERT_EQ(opens.size(), 2U);
  EXPECT_EQ(opens[1].pace, net::Pace::prompt);
}

// Whatever is closed while the mount ends, one file after the other.
TEST_F(OpenTest, NoCloseIsUnhurriedOnceTheMountHurries) {
  start();
  OpenRef open = must_open(kRead);
  mount().hurry();
  EXPECT_TRUE(must_close(std::move(open)));
  const auto closes = server_.arrivals_of(OP_CLOSE);
  ASSERT_EQ(closes.size(), 1U);
  EXPECT_EQ(closes[0].pace, net::Pace::prompt);
}

// It may go with the next request; at the end of the mount there is none.
TEST_F(OpenTest, ACloseIsUnhurriedUntilTheMountEnds) {
  start();
  EXPECT_TRUE(must_close(must_open(kRead)));
  OpenRef left = must_open(kRead);
  EXPECT_TRUE(run(mount().opens().close_all()));
  const auto closes = server_.arrivals_of(OP_CLOSE);
  ASSERT_EQ(closes.size(), 2U);
  EXPECT_EQ(closes[0].pace, net::Pace::unhurried);
  EXPECT_EQ(closes[1].pace, net::Pace::prompt);
}

// Who opens a file again and again must not wait for the clock each time.
TEST_F(OpenTest, AnOpenHurriesTheCloseThatItWaitsFor) {
  start();
  OpenRef first = must_open(kRead);
  server_.fate = [](const Arrival& arrival) {
    return arrival.has(OP_CLOSE) ? Fate::hold : Fate::answer;
  };
  Pending<Result<void>> closing(mount().opens().close(std::move(first)));
  reactor_.settle();
  const int before = server_.hurries();
  Pending<Result<Opened>> opening(open(mount(), {}, handle(1), kRead));
  reactor_.settle();
  EXPECT_GT(server_.hurries(), before);
  EXPECT_FALSE(opening.done());
  server_.fate = nullptr;
  server_.release();
  reactor_.settle();
  ASSERT_TRUE(closing.done() && opening.done());
  EXPECT_TRUE(must_close(std::move(opening.value()->open)));
}

TEST_F(OpenTest, ADowngradeWaitsForAnOpenUnderWay) {
  start();
  OpenRef reader = must_open(kRead);
  OpenRef writer = must_open(kWrite);
  server_.fate = [](const Arrival& arrival) {
    return arrival.has(OP_OPEN) ? Fate::hold : Fate::answer;
  };
  Pending<Result<Opened>> opening(open(mount(), {}, handle(1), kWrite));
  reactor_.settle();
  Pending<Result<void>> closing(mount().opens().close(std::move(writer)));
  reactor_.advance(std::chrono::seconds(1));
  EXPECT_FALSE(closing.done());
  server_.fate = nullptr;
  server_.release();
  reactor_.settle();
  ASSERT_TRUE(opening.done() && closing.done());
  EXPECT_EQ(server_.executions_of(OP_OPEN_DOWNGRADE), 0U) << "it is open for writing again";
  EXPECT_TRUE(must_close(std::move(opening.value()->open)));
  EXPECT_TRUE(must_close(std::move(reader)));
}

/// Opens by name: which file that is only the answer tells.
class OpenByName : public OpenTest {
 protected:
  OpenByName() {
    server_.on<GETFH4args, GETFH4res>(
        [](const GETFH4args&, GETFH4res& result) { result.resok4.object = handle(1); });
  }
  Task<Result<Opened>> opening() {
    return create(mount(), {}, handle(1), "name", CreateMode::unchecked, {}, kRead);
  }
};

// The server does OPEN, then CLOSE with the seqid before it: CLOSE is old, and comes to nothing.
TEST_F(OpenByName, ACloseOvertakenByAnOpenIsNotExecuted) {
  start();
  OpenRef first = must_open(kRead);
  server_.fate = [](const Arrival& arrival) {
    return arrival.has(OP_OPEN) ? Fate::hold : Fate::answer;
  };
  Pending<Result<Opened>> opened(opening());
  reactor_.settle();
  Pending<Result<void>> closing(mount().opens().close(std::move(first)));
  reactor_.settle();
  EXPECT_FALSE(closing.done());
  EXPECT_EQ(counter("open_old_stateids"), 1U);
  server_.release();
  reactor_.advance(std::chrono::seconds(1));
  ASSERT_TRUE(opened.done());
  ASSERT_TRUE(opened.value());
  ASSERT_TRUE(closing.done());
  EXPECT_TRUE(closing.value());
  EXPECT_EQ(counter("closes"), 0U);
  server_.fate = nullptr;
  EXPECT_TRUE(must_close(std::move(opened.value()->open)));
  EXPECT_EQ(counter("closes"), 1U);
}

// The server does CLOSE first; OPEN's reply, a new stateid, comes before CLOSE's.
TEST_F(OpenByName, AnOpenAfterTheCloseIsAnotherIncarnation) {
  start();
  OpenRef first = must_open(kRead);
  server_.fate = [](const Arrival& arrival) {
    return arrival.has(OP_CLOSE) ? Fate::hold : Fate::answer;
  };
  Pending<Result<void>> closing(mount().opens().close(std::move(first)));
  reactor_.settle();
  EXPECT_FALSE(closing.done());
  auto second = run(opening());
  ASSERT_TRUE(second);
  server_.fate = nullptr;
  server_.release();
  reactor_.settle();
  ASSERT_TRUE(closing.done());
  EXPECT_TRUE(closing.value());
  EXPECT_EQ(second->open->stateid().other, state_.other);
  EXPECT_EQ(counter("open_files"), 1U);
  EXPECT_TRUE(must_close(std::move(second->open)));
  EXPECT_EQ(counter("open_files"), 0U);
}

// RFC 8881 section 8.2.3: a stateid of zeros is the anonymous one. A server that took the old CLOSE
// has closed what is in use: that is opened anew before anything else is asked in its name.
TEST_F(OpenByName, WhatAnOldCloseHasEndedIsOpenedAnew) {
  start();
  OpenRef first = must_open(kRead);
  server_.on<CLOSE4args, CLOSE4res>([](const CLOSE4args&, CLOSE4res&) {});
  std::vector<stateid4> named;
  server_.on<READ4args, READ4res>([&](const READ4args& args, READ4res& result) {
    named.push_back(args.stateid);
    result.resok4.eof = true;
  });
  server_.fate = [](const Arrival& arrival) {
    return arrival.has(OP_CLOSE) ? Fate::hold : Fate::answer;
  };
  Pending<Result<void>> closing(mount().opens().close(std::move(first)));
  reactor_.settle();
  auto second = run(opening());
  ASSERT_TRUE(second);
  state_ = {};
  server_.fate = nullptr;
  server_.release();
  std::array<std::byte, 16> data{};
  EXPECT_TRUE(run(read(mount(), {}, second->handle, second->open.state(), 0, data)));
  ASSERT_TRUE(closing.done());
  EXPECT_TRUE(closing.value());
  EXPECT_EQ(counter("opens_reopened"), 1U);
  ASSERT_EQ(named.size(), 1U);
  EXPECT_EQ(named[0].other, state_.other);
  EXPECT_EQ(incarnation_, 2);
  (void)must_close(std::move(second->open));
}

// The late answer of the CLOSE says nothing of what was opened after it, nor of its locks.
TEST_F(OpenByName, WhatWasOpenedBeforeTheCloseIsAnsweredGoesOn) {
  start();
  OpenRef first = must_open(kRead);
  server_.fate = [](const Arrival& arrival) {
    return arrival.has(OP_CLOSE) ? Fate::hold : Fate::answer;
  };
  Pending<Result<void>> closing(mount().opens().close(std::move(first)));
  reactor_.settle();
  auto second = run(opening());
  ASSERT_TRUE(second);
  ASSERT_TRUE(run(client::lock(mount(), second->open.file(), {.owner = kAnn, .range = {0, 9}})));
  server_.fate = nullptr;
  server_.release();
  reactor_.settle();
  ASSERT_TRUE(closing.done());
  EXPECT_TRUE(closing.value());
  EXPECT_EQ(counter("locks_lost"), 0U);
  EXPECT_EQ(counter("opens_reopened"), 0U);
  EXPECT_EQ(server_.executions_of(OP_OPEN), 2U);
  EXPECT_TRUE(must_close(std::move(second->open)));
}

// RFC 8881 section 18.2.3: a server may release the locks with CLOSE. Their stateid would be
// refused afterwards.
TEST_F(OpenTest, LocksGoWithTheCloseThoughTheFileIsOpenedAgain) {
  start();
  OpenRef first = must_open(kRead);
  ASSERT_TRUE(run(client::lock(mount(), first.file(), {.owner = kAnn, .range = {0, 9}})));
  const IoBy by_ann{.owner = kAnn.id, .range = {0, 9}};
  ASSERT_TRUE(lock_for_io(first->locks(), by_ann));
  server_.fate = [](const Arrival& arrival) {
    return arrival.has(OP_CLOSE) ? Fate::hold : Fate::answer;
  };
  Pending<Result<void>> closing(mount().opens().close(std::move(first)));
  reactor_.settle();
  Pending<Result<Opened>> opening(open(mount(), {}, handle(1), kRead));
  reactor_.settle();
  server_.fate = nullptr;
  server_.release();
  reactor_.settle();
  ASSERT_TRUE(closing.done() && opening.done());
  ASSERT_TRUE(opening.value());
  EXPECT_FALSE(lock_for_io(opening.value()->open->locks(), by_ann));
  EXPECT_TRUE(must_close(std::move(opening.value()->open)));
}

TEST_F(OpenTest, TheNewestStateidIsKeptWhateverComesFirst) {
  start();
  OpenFiles& table = mount().opens();
  stateid4 stateid{2, {}};
  stateid.other[0] = std::byte{7};
  OpenRef newer = table.merge({}, handle(9), kRead, stateid);
  stateid.seqid = 1;
  OpenRef older = table.merge({}, handle(9), kRead, stateid);
  state_ = {2, stateid.other};
  EXPECT_TRUE(must_close(std::move(newer)));
  EXPECT_TRUE(must_close(std::move(older))) << "closed with seqid 2, or the server refuses";
}

TEST_F(OpenTest, ADroppedReferenceIsClosedInTheBackground) {
  start();
  { OpenRef ref = must_open(kRead); }
  reactor_.settle();
  EXPECT_EQ(counter("closes"), 1U);
}

TEST_F(OpenTest, StopClosesWhatIsOpen) {
  start();
  OpenRef ref = must_open(kRead);
  EXPECT_TRUE(run(mount().stop()));
  stopped_ = true;
  EXPECT_EQ(server_.executions_of(OP_CLOSE), 1U);
  ref.reset();
}

TEST_F(OpenTest, ADelegationNobodyWantedIsReturned) {
  start();
  delegation_.delegation_type = OPEN_DELEGATE_READ;
  delegation_.read.stateid.seqid = 1;
  auto opened = run(open(mount(), {}, handle(1), kRead, Delegating::unwanted));
  ASSERT_TRUE(opened);
  EXPECT_EQ(last_open_, kRead | OPEN4_SHARE_ACCESS_WANT_NO_DELEG);
  reactor_.settle();
  EXPECT_EQ(server_.executions_of(OP_DELEGRETURN), 1U);
  EXPECT_TRUE(must_close(std::move(opened->open)));
}

// RFC 8881 section 18.16.3: `recall` in the grant says that it is recalled already.
TEST_F(OpenTest, ADelegationThatIsRecalledWithItsGrantIsReturned) {
  start();
  delegation_.delegation_type = OPEN_DELEGATE_READ;
  delegation_.read.stateid.seqid = 1;
  delegation_.read.recall = true;
  OpenRef ref = must_open(kRead);
  reactor_.settle();
  EXPECT_EQ(server_.executions_of(OP_DELEGRETURN), 1U);
  EXPECT_TRUE(must_close(std::move(ref)));
}

// The server revokes what is not returned in a lease (RFC 8881 section 10.2.1).
TEST_F(OpenTest, ADelegationThatIsNotTakenBackIsTriedForALease) {
  start();
  delegation_.delegation_type = OPEN_DELEGATE_READ;
  delegation_.read.stateid.seqid = 1;
  delegation_.read.recall = true;
  server_.fail(OP_DELEGRETURN, NFS4ERR_DELAY, /*times=*/1'000'000);
  OpenRef ref = must_open(kRead);
  reactor_.advance(std::chrono::minutes(3));
  const auto tried = server_.arrivals_of(OP_DELEGRETURN).size();
  EXPECT_GT(tried, 1U);
  reactor_.advance(std::chrono::minutes(10));
  EXPECT_EQ(server_.arrivals_of(OP_DELEGRETURN).size(), tried);
  EXPECT_TRUE(must_close(std::move(ref)));
}

// The reply is lost, and the session with it: the CLOSE is made again, and a server that remembers
// closed stateids calls its own old (RFC 8881 section 8.2.4).
TEST_F(OpenTest, ACloseThatWasDoneBeforeIsDone) {
  start();
  OpenRef ref = must_open(kRead);
  std::vector<std::uint32_t> closes;
  server_.on<CLOSE4args, CLOSE4res>([&](const CLOSE4args& args, CLOSE4res& result) {
    closes.push_back(args.open_stateid.seqid);
    if (closes.size() == 1) return;
    result.status = args.open_stateid.seqid == 0 ? NFS4ERR_BAD_STATEID : NFS4ERR_OLD_STATEID;
  });
  bool forgotten = false;
  server_.fate = [&](const Arrival& arrival) {
    if (closes.empty()) return arrival.has(OP_CLOSE) ? Fate::disconnect_after : Fate::answer;
    if (!std::exchange(forgotten, true)) server_.forget(/*client_too=*/false);
    return Fate::answer;
  };
  EXPECT_TRUE(must_close(std::move(ref)));
  EXPECT_TRUE(forgotten);
  EXPECT_EQ(closes.size(), 3U) << "once done, once old, once as it is now";
}

TEST_F(OpenTest, PreserveUnlinkedIsPassedOn) {
  start();
  rflags_ = OPEN4_RESULT_PRESERVE_UNLINKED;
  auto opened = run(open(mount(), {}, handle(1), kRead));
  ASSERT_TRUE(opened);
  EXPECT_TRUE(opened->preserve_unlinked);
}

// RFC 8881 section 18.16.3: what an exclusive create did not take is set afterwards.
TEST_F(OpenTest, ExclusiveCreateSetsTheRestAfterwards) {
  start();
  SetAttributes initial;
  initial.mode = 0600;
  auto opened = run(create(mount(), {}, handle(1), "f", CreateMode::exclusive, initial, kBoth));
  ASSERT_TRUE(opened) << opened.error().message();
  EXPECT_EQ(how_, EXCLUSIVE4_1);
  EXPECT_EQ(server_.executions_of(OP_SETATTR), 1U);
}

// RFC 8881 section 18.16.3: Linux and NFS-Ganesha keep the verifier in the times, and name the
// times themselves in attrset, not the attributes that set them.
TEST_F(OpenTest, TimesThatHoldTheVerifierAreSet) {
  attrset_ = {FATTR4_MODE, FATTR4_TIME_ACCESS, FATTR4_TIME_MODIFY};
  bitmap4 set;
  server_.on<SETATTR4args, SETATTR4res>([&](const SETATTR4args& args, SETATTR4res&) {
    auto attributes = decode_attributes(args.obj_attributes);
    ASSERT_TRUE(attributes);
    set = attributes->present;
    EXPECT_EQ(attributes->time_access_set.set_it, SET_TO_SERVER_TIME4);
    EXPECT_EQ(attributes->time_modify_set.set_it, SET_TO_SERVER_TIME4);
  });
  start();
  auto opened = run(create(mount(), {}, handle(1), "f", CreateMode::exclusive, {}, kBoth));
  ASSERT_TRUE(opened) << opened.error().message();
  EXPECT_EQ(set, (bitmap4{FATTR4_TIME_ACCESS_SET, FATTR4_TIME_MODIFY_SET}));
}

TEST_F(OpenTest, OtherCreatesSetEverythingAtOnce) {
  start();
  SetAttributes initial;
  initial.mode = 0600;
  ASSERT_TRUE(run(create(mount(), {}, handle(1), "f", CreateMode::guarded, initial, kBoth)));
  EXPECT_EQ(how_, GUARDED4);
  ASSERT_TRUE(run(create(mount(), {}, handle(1), "f", CreateMode::unchecked, initial, kBoth)));
  EXPECT_EQ(how_, UNCHECKED4);
  EXPECT_EQ(server_.executions_of(OP_SETATTR), 0U);
}

// The attributes behind an OPEN may be late; the file is open all the same, once.
TEST_F(OpenTest, LateAttributesDoNotRepeatTheOpen) {
  start();
  server_.fail(OP_GETATTR, NFS4ERR_DELAY, 1);
  OpenRef ref = must_open(kRead);
  EXPECT_EQ(server_.executions_of(OP_OPEN), 1U);
  EXPECT_TRUE(must_close(std::move(ref)));
}

TEST_F(OpenTest, AnOpenWhoseAttributesFailIsClosedAgain) {
  start();
  server_.fail(OP_GETATTR, NFS4ERR_STALE, 1);
  EXPECT_FALSE(run(open(mount(), {}, handle(1), kRead)));
  reactor_.settle();
  EXPECT_EQ(server_.executions_of(OP_CLOSE), 1U);
  EXPECT_EQ(counter("open_files"), 0U);
}

// RFC 8881 section 18.16.3: a server may keep the verifier of an exclusive create in the times;
// they are set when it says so, though the client has asked for none.
TEST_F(OpenTest, TimesThatHeldTheVerifierAreSetAfterwards) {
  SetAttributes initial;
  initial.mode = 0600;
  const std::pair<bitmap4, bool> cases[] = {{{FATTR4_MODE, FATTR4_TIME_ACCESS_SET}, true},
                                            {{FATTR4_MODE, FATTR4_TIME_MODIFY_SET}, false}};
  std::optional<Attributes> set;
  server_.on<SETATTR4args, SETATTR4res>([&](const SETATTR4args& args, SETATTR4res& result) {
    auto decoded = decode_attributes(args.obj_attributes);
    ASSERT_TRUE(decoded);
    set = *decoded;
    result.attrsset = args.obj_attributes.attrmask;
  });
  start();
  for (const auto& [attrset, of_access] : cases) {
    attrset_ = attrset;
    set.reset();
    auto opened = run(create(mount(), {}, handle(1), "f", CreateMode::exclusive, initial, kBoth));
    ASSERT_TRUE(opened) << opened.error().message();
    ASSERT_TRUE(set);
    EXPECT_EQ(set->has(FATTR4_TIME_ACCESS_SET), of_access);
    EXPECT_EQ(set->has(FATTR4_TIME_MODIFY_SET), !of_access);
    const settime4& time = of_access ? set->time_access_set : set->time_modify_set;
    EXPECT_EQ(time.set_it, SET_TO_SERVER_TIME4);
    EXPECT_TRUE(must_close(std::move(opened->open)));
  }
}

// An OPEN that meets an OPEN_DOWNGRADE of the same owner and file waits for it: crossing, the two
// would leave the client with access it has not noted. What the OPEN brought is given back in its
// turn.
TEST_F(OpenTest, AnOpenWaitsForADowngradeUnderWay) {
  start();
  OpenRef both = must_open(kBoth);
  OpenRef reader = must_open(kRead);
  server_.fate = [](const Arrival& arrival) {
    return arrival.has(OP_OPEN_DOWNGRADE) ? Fate::hold : Fate::answer;
  };
  Pending<Result<void>> closing(mount().opens().close(std::move(both)));
  reactor_.settle();
  ASSERT_FALSE(closing.done());
  const auto opens = server_.executions_of(OP_OPEN);
  Pending<Result<Opened>> opening(open(mount(), Credential{}, handle(1), kWrite));
  reactor_.settle();
  ASSERT_FALSE(opening.done());
  EXPECT_EQ(server_.executions_of(OP_OPEN), opens) << "not sent yet";
  server_.fate = nullptr;
  server_.release();
  reactor_.settle();
  ASSERT_TRUE(closing.done());
  EXPECT_TRUE(closing.value());
  ASSERT_TRUE(opening.done());
  ASSERT_TRUE(opening.value());
  EXPECT_EQ(server_.executions_of(OP_OPEN_DOWNGRADE), 1U);
  EXPECT_TRUE(must_close(std::move(opening.value()->open)));
  EXPECT_EQ(server_.executions_of(OP_OPEN_DOWNGRADE), 2U) << "no open writes any more";
  EXPECT_EQ(downgraded_to_, kRead);
  EXPECT_TRUE(must_close(std::move(reader)));
}

}  // namespace
}  // namespace nfsrdma::client::test
