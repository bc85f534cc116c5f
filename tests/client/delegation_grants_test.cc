// Delegations as a server of any make may give and recall them: which one is kept, what it covers,
// and what the server is told (RFC 8881 sections 10.2, 10.4, 18.16, 20.2). In virtual time.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "client/files/delegations.h"
#include "client/files/lock.h"
#include "client/files/open.h"
#include "client/files/open_files.h"
#include "client/requests/getattr.h"
#include "client/session/session.h"
#include "tests/client/fake_mount.h"

namespace nfsrdma::client::test {
namespace {

using namespace nfs4;

constexpr std::uint32_t kRead = OPEN4_SHARE_ACCESS_READ;
constexpr std::uint32_t kWrite = OPEN4_SHARE_ACCESS_WRITE;
constexpr std::uint32_t kBoth = OPEN4_SHARE_ACCESS_BOTH;

/// A server with one file, whose next OPEN brings the delegation that the test says.
class GrantedDelegations : public FakeMount {
 protected:
  GrantedDelegations() {
    server_.on<OPEN4args, OPEN4res>([this](const OPEN4args& args, OPEN4res& result) {
      asked_.push_back(args.share_access);
      claims_.push_back(args.claim.claim);
      result.resok4.stateid = stateid_of(args.owner.owner);
      result.resok4.delegation = std::exchange(granted_, {});
    });
    server_.on<GETFH4args, GETFH4res>(
        [](const GETFH4args&, GETFH4res& result) { result.resok4.object = handle(1); });
    server_.on<DELEGRETURN4args, DELEGRETURN4res>(
        [this](const DELEGRETURN4args& args, DELEGRETURN4res&) {
          returned_.push_back(std::to_integer<int>(args.deleg_stateid.other[0]));
        });
  }
  void SetUp() override { start(); }

  /// One for each open-owner, whose bytes end with the user's number.
  template <class Owner>
  stateid4 stateid_of(const Owner& owner) {
    stateid4 stateid{++opens_, {}};
    std::copy(owner.end() - sizeof(std::uint32_t), owner.end(), stateid.other.begin());
    stateid.other.back() = std::byte{1};
    return stateid;
  }
  static stateid4 delegation_stateid(int number) {
    stateid4 stateid{1, {}};
    stateid.other[0] = static_cast<std::byte>(number);
    return stateid;
  }
  /// With the next OPEN.
  void grant(open_delegation_type4 type, int number, bool recall = false) {
    granted_.delegation_type = type;
    granted_.read.stateid = granted_.write.stateid = delegation_stateid(number);
    granted_.read.recall = granted_.write.recall = recall;
  }
  nfsstat4 recall(int number, const FileHandle& file = handle(1)) {
    CB_RECALL4args args;
    args.fh = file;
    args.stateid = delegation_stateid(number);
    return mount().delegations().recall(args);
  }
  static Credential user(std::uint32_t uid) {
    Credential caller;
    caller.uid = uid;
    return caller;
  }
  /// Of one uid all, with one supplementary group.
  static Credential member_of(std::uint32_t group) {
    Credential caller;
    caller.groups[0] = group;
    caller.group_count = 1;
    return caller;
  }
  OpenRef must_open(std::uint32_t access, std::uint32_t uid = 0) {
    return must_open_as(user(uid), access);
  }
  OpenRef must_open_as(const Credential& caller, std::uint32_t access) {
    auto opened = run(open(mount(), caller, handle(1), access));
    EXPECT_TRUE(opened) << opened.error().message();
    return std::move(opened->open);
  }
  OpenRef must_open_by_name(std::uint32_t access) {
    auto opened = run(open_by_name(mount(), user(0), handle(2), "name", access));
    EXPECT_TRUE(opened) << opened.error().message();
    return std::move(opened->open);
  }
  std::optional<OpenedLocally> open_here(std::uint32_t access, std::uint32_t uid = 0) {
    return open_locally(mount(), user(uid), handle(1), access);
  }
  bool must_close(OpenRef open) {
    auto closed = run(mount().opens().close(std::move(open)));
    return closed.has_value();
  }
  DelegationRef held() { return mount().delegations().held(handle(1)); }
  void expect_claimed(std::uint32_t access) {
    EXPECT_EQ(counter("open_claims"), 1U);
    EXPECT_EQ(claims_.back(), CLAIM_DELEG_CUR_FH);
    EXPECT_EQ(asked_.back() & kBoth, access);
  }

  open_delegation4 granted_;
  std::uint32_t opens_ = 0;
  std::vector<std::uint32_t> asked_;  ///< share_access of each OPEN
  std::vector<open_claim_type4> claims_;
  std::vector<int> returned_;
};

TEST_F(GrantedDelegations, OneOfAFileIsEnough) {
  grant(OPEN_DELEGATE_READ, 1);
  const OpenRef first = must_open(kRead);
  EXPECT_EQ(asked_.back(), kRead | OPEN4_SHARE_ACCESS_WANT_READ_DELEG);
  const OpenRef second = must_open(kRead, 7);
  EXPECT_EQ(asked_.back(), kRead | OPEN4_SHARE_ACCESS_WANT_NO_DELEG);
}

TEST_F(GrantedDelegations, WhoHasRunAFileMayNotReadItHere) {
  server_.on<ACCESS4args, ACCESS4res>([](const ACCESS4args& args, ACCESS4res& result) {
    result.resok4 = {args.access, args.access & ACCESS4_EXECUTE};
  });
  grant(OPEN_DELEGATE_READ, 1);
  const OpenFor execution(kRead, /*executed=*/true);
  auto first = run(open(mount(), user(0), handle(1), execution));
  ASSERT_TRUE(first) << first.error().message();
  EXPECT_TRUE(open_locally(mount(), user(0), handle(1), execution));
  EXPECT_FALSE(open_here(kRead));
  EXPECT_FALSE(run(open(mount(), user(0), handle(1), kRead)));
  EXPECT_FALSE(open_here(kRead)) << "the server has refused it";
}

TEST_F(GrantedDelegations, WhoHasReadAFileMayNotRunItHere) {
  server_.on<ACCESS4args, ACCESS4res>([](const ACCESS4args& args, ACCESS4res& result) {
    result.resok4 = {args.access, args.access & ACCESS4_READ};
  });
  grant(OPEN_DELEGATE_READ, 1);
  const OpenRef first = must_open(kRead);
  EXPECT_TRUE(open_here(kRead));
  EXPECT_FALSE(open_locally(mount(), user(0), handle(1), {kRead, /*executed=*/true}));
}

// An OPEN by name tells its file only with the answer, so that one more may come.
TEST_F(GrantedDelegations, OfTwoTheBetterIsKept) {
  grant(OPEN_DELEGATE_WRITE, 1);
  const OpenRef first = must_open(kBoth);
  grant(OPEN_DELEGATE_READ, 2);
  const OpenRef second = must_open_by_name(kRead);
  reactor_.settle();
  EXPECT_EQ(returned_, std::vector{2});
  ASSERT_TRUE(held());
  EXPECT_TRUE(held()->writes());
  EXPECT_EQ(held()->newest_stateid(), delegation_stateid(1));
}

TEST_F(GrantedDelegations, OneThatLetsWriteReplacesOneThatLetsRead) {
  grant(OPEN_DELEGATE_READ, 1);
  const OpenRef first = must_open(kRead);
  grant(OPEN_DELEGATE_WRITE, 2);
  const OpenRef second = must_open_by_name(kBoth);
  reactor_.settle();
  EXPECT_EQ(returned_, std::vector{1});
  ASSERT_TRUE(held());
  EXPECT_TRUE(held()->writes());
}

// RFC 8881 section 10.4: the server puts the OPEN off until the delegation is back. The CLOSE of
// the other open waits for that OPEN, whose access it may be about; the return waits for neither.
TEST_F(GrantedDelegations, GoBackWhileACloseWaitsForAnOpen) {
  grant(OPEN_DELEGATE_READ, 1);
  OpenRef reader = must_open(kRead);
  server_.fate = [](const Arrival& arrival) {
    return arrival.has(OP_OPEN) ? Fate::hold : Fate::answer;
  };
  Pending<Result<Opened>> opening(open(mount(), user(0), handle(1), kBoth));
  reactor_.settle();
  ASSERT_EQ(recall(1), NFS4_OK);
  Pending<Result<void>> closing(mount().opens().close(std::move(reader)));
  reactor_.settle();
  EXPECT_EQ(returned_, std::vector{1});
  EXPECT_FALSE(opening.done());
  server_.fate = nullptr;
  server_.release();
  reactor_.settle();
  ASSERT_TRUE(opening.done() && closing.done());
  EXPECT_TRUE(opening.value() && closing.value());
}

/// One delegation is returned at a time.
class OneReturnAtATime : public GrantedDelegations {
 protected:
  void SetUp() override {
    configure({}, /*slots=*/3);
    start();
  }
};

// The CLOSE of the first file waits for an OPEN, which the server may put off until it has the
// other delegation back.
TEST_F(OneReturnAtATime, NoReturnWaitsForAClose) {
  grant(OPEN_DELEGATE_READ, 1);
  OpenRef reader = must_open(kRead);
  grant(OPEN_DELEGATE_READ, 2);
  auto second = run(open(mount(), user(0), handle(2), kRead));
  ASSERT_TRUE(second);
  server_.fate = [](const Arrival& arrival) {
    return arrival.has(OP_OPEN) ? Fate::hold : Fate::answer;
  };
  Pending<Result<Opened>> opening(open(mount(), user(0), handle(1), kBoth));
  reactor_.settle();
  ASSERT_TRUE(must_close(std::move(reader)));
  ASSERT_EQ(recall(1), NFS4_OK);
  ASSERT_EQ(recall(2, handle(2)), NFS4_OK);
  reactor_.settle();
  EXPECT_EQ(returned_, (std::vector{1, 2}));
  server_.fate = nullptr;
  server_.release();
  reactor_.settle();
  EXPECT_TRUE(opening.done());
}

// RFC 8881 section 18.16.2: `recall` in the grant itself. The server waits, and revokes it at last.
TEST_F(GrantedDelegations, OneThatIsRecalledWithItsGrantGoesBack) {
  for (const auto type : {OPEN_DELEGATE_READ, OPEN_DELEGATE_WRITE}) {
    returned_.clear();
    grant(type, 1, /*recall=*/true);
    const OpenRef open = must_open(kBoth);
    reactor_.settle();
    EXPECT_EQ(returned_, std::vector{1});
    EXPECT_EQ(counter("delegations"), 0U);
  }
}

// RFC 8881 sections 10.2.1 and 18.46.3: the reply that granted it may have been lost with a
// session. Left there, it would be in the way of others until it is revoked, and the flag that
// tells of that would stay set.
TEST_F(GrantedDelegations, ARecallOfOneThatIsNotKnownReturnsThat) {
  grant(OPEN_DELEGATE_READ, 1);
  const OpenRef open = must_open(kRead);
  EXPECT_EQ(recall(2), NFS4_OK);
  EXPECT_EQ(recall(2), NFS4_OK) << "a repetition";
  reactor_.settle();
  EXPECT_TRUE(held());
  EXPECT_EQ(returned_, std::vector{2});
  EXPECT_EQ(recall(1), NFS4_OK);
  reactor_.settle();
  EXPECT_FALSE(held());
  EXPECT_EQ(returned_, (std::vector{2, 1}));
}

// A server may recall whatever it likes, and answer nothing.
TEST_F(GrantedDelegations, FewThatAreNotKnownAreReturnedAtOnce) {
  server_.fate = [](const Arrival& arrival) {
    return arrival.has(OP_DELEGRETURN) ? Fate::hold : Fate::answer;
  };
  constexpr int kMost = static_cast<int>(client::Delegations::kMostStrays);
  for (int number = 1; number <= kMost; ++number) EXPECT_EQ(recall(number), NFS4_OK);
  EXPECT_EQ(recall(kMost + 1), NFS4ERR_DELAY);
  server_.fate = nullptr;
  server_.release();
  reactor_.settle();
  server_.release();
  reactor_.settle();
  EXPECT_EQ(recall(kMost + 1), NFS4_OK);
  reactor_.settle();
  EXPECT_EQ(returned_.size(), static_cast<std::size_t>(kMost) + 1);
}

// The server has not seen its return yet, and grants it once more.
TEST_F(GrantedDelegations, OneThatIsReturnedAsNotKnownIsNotReliedUpon) {
  server_.fate = [](const Arrival& arrival) {
    return arrival.has(OP_DELEGRETURN) ? Fate::hold : Fate::answer;
  };
  EXPECT_EQ(recall(1), NFS4_OK);
  reactor_.settle();
  grant(OPEN_DELEGATE_READ, 1);
  const OpenRef open = must_open(kRead);
  EXPECT_FALSE(held());
  server_.fate = nullptr;
  server_.release();
  reactor_.settle();
}

// The reply that brings it back is on its way.
TEST_F(GrantedDelegations, ARecallDuringTheRecoveryIsPutOff) {
  grant(OPEN_DELEGATE_READ, 1);
  const OpenRef open = must_open(kRead);
  held()->forgotten();
  EXPECT_EQ(recall(2), NFS4ERR_DELAY);
  reactor_.settle();
  EXPECT_TRUE(returned_.empty());
}

// RFC 8881 section 20.2.3: NFS4ERR_BAD_STATEID would tell the server that its grant came to
// nothing.
TEST_F(GrantedDelegations, ARecallThatOvertakesItsGrantIsPutOff) {
  grant(OPEN_DELEGATE_READ, 1);
  server_.fate = [](const Arrival& arrival) {
    return arrival.has(OP_OPEN) ? Fate::hold : Fate::answer;
  };
  Pending<Result<Opened>> opening(open(mount(), user(0), handle(1), kRead));
  reactor_.settle();
  EXPECT_EQ(recall(1), NFS4ERR_DELAY);
  server_.fate = nullptr;
  server_.release();
  reactor_.settle();
  ASSERT_TRUE(opening.done());
  EXPECT_EQ(recall(1), NFS4_OK);
  reactor_.settle();
  EXPECT_EQ(returned_, std::vector{1});
  EXPECT_EQ(recall(1), NFS4_OK) << "nothing is under way";
}

// RFC 8881 section 10.2.1: another client may have had the file before the new one came.
TEST_F(GrantedDelegations, LocksAreLostWithOneThatIsRevokedThoughAnotherComes) {
  grant(OPEN_DELEGATE_WRITE, 1);
  const OpenRef file = must_open(kBoth);
  const WantedLock wanted{.owner = {LockKind::posix, 1}, .range = {0, 9}, .exclusive = true};
  ASSERT_TRUE(run(client::lock(mount(), file.file(), wanted)));
  server_.fate = [](const Arrival& arrival) {
    return arrival.has(OP_OPEN) ? Fate::hold : Fate::answer;
  };
  grant(OPEN_DELEGATE_WRITE, 2);
  Pending<Result<Opened>> opening(open_by_name(mount(), user(0), handle(2), "name", kBoth));
  reactor_.settle();
  held()->on_refused(NFS4ERR_DELEG_REVOKED);
  mount().session().state_refused();
  reactor_.settle();
  server_.fate = nullptr;
  server_.release();
  reactor_.advance(std::chrono::seconds(1));
  ASSERT_TRUE(opening.done());
  ASSERT_TRUE(held());
  EXPECT_EQ(held()->newest_stateid(), delegation_stateid(2));
  EXPECT_EQ(counter("locks_lost"), 1U);
}

// RFC 8881 section 10.4: a read delegation lets the client answer opens for reading alone, even of
// a user whom the server has let write.
TEST_F(GrantedDelegations, UnderAReadDelegationAWriterAsksTheServer) {
  grant(OPEN_DELEGATE_READ, 1);
  const OpenRef both = must_open(kBoth);
  EXPECT_TRUE(open_here(kRead));
  EXPECT_FALSE(open_here(kWrite));
  EXPECT_FALSE(open_here(kBoth));
}

// The two name one stateid. The delegation's is good for no WRITE, the open's for no READ as long
// as the server has not opened the file for reading: NFS4ERR_OPENMODE (RFC 8881 section 9.1.2).
TEST_F(GrantedDelegations, AReaderBesideAWriterThatTheServerKnowsAsksTheServer) {
  grant(OPEN_DELEGATE_READ, 1);
  const OpenRef of_holder = must_open(kRead);
  ASSERT_TRUE(must_close(must_open(kRead, 7)));
  const OpenRef writer = must_open(kWrite, 7);
  EXPECT_FALSE(open_here(kRead, 7));
}

// RFC 8881 section 18.18.3: OPEN_DOWNGRADE goes only to an access that an OPEN has asked for, so
// what stays open when the writer closes must have been asked for.
TEST_F(GrantedDelegations, AWriterHasTheServerKnowTheReaderBesideIt) {
  grant(OPEN_DELEGATE_READ, 1);
  const OpenRef both = must_open(kBoth);
  const auto reader = open_here(kRead);
  ASSERT_TRUE(reader);
  const OpenRef writer = must_open(kWrite);
  expect_claimed(kRead);
}

// RFC 8881 section 18.16.3: a server may take WANT_NO_DELEG at its word, and Linux knfsd does,
// before it looks at the delegation that is claimed.
TEST_F(GrantedDelegations, OneThatIsReclaimedIsNotDeclinedInTheSameOpen) {
  grant(OPEN_DELEGATE_READ, 1);
  const OpenRef delegated = must_open(kRead);
  server_.forget(true);
  grant(OPEN_DELEGATE_READ, 2);
  ASSERT_TRUE(run(getattr(mount(), user(0), handle(1))));
  ASSERT_EQ(claims_.back(), CLAIM_PREVIOUS);
  EXPECT_EQ(asked_.back() & OPEN4_SHARE_ACCESS_WANT_DELEG_MASK, 0U);
  ASSERT_TRUE(held());
  EXPECT_EQ(held()->newest_stateid(), delegation_stateid(2));
}

TEST_F(GrantedDelegations, AnOpenIsReclaimedWithoutOne) {
  const OpenRef open = must_open(kRead);
  server_.forget(true);
  ASSERT_TRUE(run(getattr(mount(), user(0), handle(1))));
  ASSERT_EQ(claims_.back(), CLAIM_PREVIOUS);
  EXPECT_EQ(asked_.back(), kRead | OPEN4_SHARE_ACCESS_WANT_NO_DELEG);
}

/// Notes what goes out about the open file, in order, and keeps the accesses that it was asked for:
/// OPEN_DOWNGRADE goes only to the union of some of them (RFC 8881 section 18.18.3).
class DowngradeBesideALocalOpen : public GrantedDelegations {
 protected:
  DowngradeBesideALocalOpen() {
    server_.on<OPEN_DOWNGRADE4args, OPEN_DOWNGRADE4res>([this](const OPEN_DOWNGRADE4args& args,
                                                               OPEN_DOWNGRADE4res& result) {
      const bool asked = std::ranges::any_of(
          asked_, [&args](std::uint32_t access) { return (access & kBoth) == args.share_access; });
      result.status = asked ? NFS4_OK : NFS4ERR_INVAL;
      result.resok4.open_stateid = args.open_stateid;
      ++result.resok4.open_stateid.seqid;
    });
  }
};

TEST_F(DowngradeBesideALocalOpen, GoesToWhatTheServerWasAskedFor) {
  grant(OPEN_DELEGATE_READ, 1);
  OpenRef both = must_open(kBoth);
  auto reader = open_here(kRead);
  ASSERT_TRUE(reader);
  EXPECT_TRUE(must_close(std::move(both)));
  expect_claimed(kRead);
  EXPECT_EQ(counter("open_downgrades"), 1U);
  EXPECT_EQ(reader->open->server_access(), kRead) << "nobody is kept from denying it to writers";
  EXPECT_TRUE(must_close(std::move(reader->open)));
}

// The return of the delegation claims what is open; a second claim would be of no use.
TEST_F(DowngradeBesideALocalOpen, WaitsForAReturnOfTheDelegation) {
  grant(OPEN_DELEGATE_READ, 1);
  OpenRef both = must_open(kBoth);
  const auto reader = open_here(kRead);
  ASSERT_TRUE(reader);
  server_.fate = [](const Arrival& arrival) {
    return arrival.has(OP_OPEN) ? Fate::hold : Fate::answer;
  };
  ASSERT_EQ(recall(1), NFS4_OK);
  reactor_.settle();
  Pending<Result<void>> closing(mount().opens().close(std::move(both)));
  reactor_.settle();
  EXPECT_FALSE(closing.done());
  server_.fate = nullptr;
  server_.release();
  reactor_.settle();
  ASSERT_TRUE(closing.done());
  EXPECT_TRUE(closing.value());
  expect_claimed(kRead);
  EXPECT_EQ(counter("open_downgrades"), 1U);
  EXPECT_EQ(returned_, std::vector{1});
}

// They share an open at the server; what it has let one do, it has not the other.
TEST_F(GrantedDelegations, AnOpenProvesNothingForOtherGroups) {
  grant(OPEN_DELEGATE_WRITE, 1);
  const OpenRef reader = must_open_as(member_of(7), kRead);
  const OpenRef writer = must_open_as(member_of(8), kWrite);
  EXPECT_FALSE(open_locally(mount(), member_of(7), handle(1), kWrite));
  EXPECT_TRUE(open_locally(mount(), member_of(8), handle(1), kWrite));
}

TEST_F(GrantedDelegations, AnOpenIsClaimedWithTheGroupsThatItWasMadeWith) {
  grant(OPEN_DELEGATE_WRITE, 1);
  const OpenRef reader = must_open_as(member_of(7), kRead);
  const OpenRef both = must_open_as(member_of(8), kBoth);
  const auto writer = open_locally(mount(), member_of(8), handle(1), kWrite);
  ASSERT_TRUE(writer);
  EXPECT_EQ(recall(1), NFS4_OK);
  reactor_.settle();
  expect_claimed(kWrite);
  EXPECT_EQ(server_.arrivals_of(OP_OPEN).back().caller.groups[0], 8U);
}

// CLOSE and OPEN_DOWNGRADE wait for the OPEN, and the claim that follows the OPEN waits for them.
TEST_F(GrantedDelegations, ACloseAndAClaimDoNotWaitForEachOther) {
  grant(OPEN_DELEGATE_READ, 1);
  OpenRef both = must_open(kBoth);
  const auto reader = open_here(kRead);
  ASSERT_TRUE(reader);
  server_.fate = [](const Arrival& arrival) {
    return arrival.has(OP_OPEN) ? Fate::hold : Fate::answer;
  };
  Pending<Result<Opened>> opening(open(mount(), user(0), handle(1), kWrite));
  reactor_.settle();
  Pending<Result<void>> closing(mount().opens().close(std::move(both)));
  reactor_.settle();
  EXPECT_FALSE(closing.done());
  server_.fate = nullptr;
  server_.release();
  reactor_.advance(std::chrono::seconds(1));
  ASSERT_TRUE(opening.done() && closing.done()) << "each waits for the other";
  EXPECT_TRUE(opening.value());
  EXPECT_TRUE(closing.value());
  expect_claimed(kRead);
}

}  // namespace
}  // namespace nfsrdma::client::test
