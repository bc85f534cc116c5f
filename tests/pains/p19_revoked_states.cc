// P19: the server has revoked very many states, or wants very many delegations back: it is asked
// in batches and not all the time, and no other operation waits.
#include <algorithm>

#include "client/files/delegations.h"
#include "client/files/open_files.h"
#include "client/requests/access.h"
#include "client/requests/getattr.h"
#include "tests/client/served_mount.h"
#include "tests/pains/crowd.h"
#include "tests/support/full_size.h"

namespace nfsrdma::client::test {
namespace {

using namespace nfs4;
using responder::DelegationKind;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::uint32_t kRead = OPEN4_SHARE_ACCESS_READ;

/// A server that has revoked every other of very many opens.
class P19_RevokedAndRecalled_States : public FakeMount {
 protected:
  const std::uint32_t states_ = static_cast<std::uint32_t>(testing::scaled(20'000, 200'000));
  static constexpr std::size_t kBatch = 32;

  P19_RevokedAndRecalled_States() {
    server_.on<TEST_STATEID4args, TEST_STATEID4res>(
        [this](const TEST_STATEID4args& args, TEST_STATEID4res& result) {
          largest_ = std::max(largest_, args.ts_stateids.size());
          for (const stateid4& stateid : args.ts_stateids) {
            const bool revoked = std::to_integer<int>(stateid.other[0]) % 2 == 0;
            result.tsr_resok4.tsr_status_codes.push_back(revoked ? NFS4ERR_ADMIN_REVOKED : NFS4_OK);
          }
        });
  }
  static FileHandle wide_handle(std::uint32_t number) {
    FileHandle made;
    made.length = sizeof number;
    std::memcpy(made.data.data(), &number, sizeof number);
    return made;
  }
  static stateid4 stateid_of(std::uint32_t number) {
    stateid4 stateid{1, {}};
    std::memcpy(stateid.other.data(), &number, sizeof number);
    return stateid;
  }
  void open_all() {
    for (std::uint32_t i = 0; i < states_; ++i) {
      files_.push_back(mount().opens().merge({}, wide_handle(i), kRead, stateid_of(i)));
    }
  }
  /// The most calls with this operation that were at the server together.
  std::size_t most_at_once(nfs_opnum4 opnum) {
    std::size_t most = 0;
    server_.fate = [&](const Arrival& arrival) {
      return arrival.has(opnum) ? Fate::hold : Fate::answer;
    };
    (void)run(getattr(mount(), {}, handle(1)));
    reactor_.settle();
    most = server_.arrivals_of(opnum).size();
    server_.fate = nullptr;
    server_.release();
    reactor_.settle();
    return most;
  }

  std::vector<OpenRef> files_;
  std::size_t largest_ = 0;
};

TEST_F(P19_RevokedAndRecalled_States, AreFoundInBatchesOneAfterTheOther) {
  start();
  open_all();
  server_.status_flags = SEQ4_STATUS_ADMIN_STATE_REVOKED;
  EXPECT_EQ(most_at_once(OP_TEST_STATEID), 1U) << "no storm";
  EXPECT_EQ(largest_, kBatch);
  const std::size_t rounds = (states_ + kBatch - 1) / kBatch;
  EXPECT_EQ(server_.executions_of(OP_TEST_STATEID), rounds);
  EXPECT_EQ(server_.executions_of(OP_FREE_STATEID), states_ / 2) << "each once";
  EXPECT_EQ(counter("opens_lost"), states_ / 2);
  // The flag stays, though nothing more is found: three times in a lease at most.
  for (int second = 0; second < 90; ++second) {
    ASSERT_TRUE(run(getattr(mount(), {}, handle(1))));
    reactor_.advance(seconds(1));
  }
  EXPECT_LE(server_.executions_of(OP_TEST_STATEID), rounds + 3 * (rounds / 2 + 1));
  server_.status_flags = 0;
  files_.clear();
}

// A request goes its way between two batches.
TEST_F(P19_RevokedAndRecalled_States, NobodyWaitsMeanwhile) {
  start();
  open_all();
  server_.status_flags = SEQ4_STATUS_ADMIN_STATE_REVOKED;
  server_.fate = [](const Arrival& arrival) {
    return arrival.has(OP_TEST_STATEID) ? Fate::hold : Fate::answer;
  };
  ASSERT_TRUE(run(getattr(mount(), {}, handle(1))));
  reactor_.settle();
  const TimePoint begun = reactor_.now();
  Crowd<Attributes> others;
  for (int i = 0; i < 1000; ++i) others.add(getattr(mount(), {}, handle(1)));
  reactor_.settle();
  others.expect_success();
  EXPECT_EQ(reactor_.now(), begun);
  server_.status_flags = 0;
  server_.fate = nullptr;
  server_.release();
  reactor_.settle();
  files_.clear();
}

// Each recall is answered at once, however many delegations there are, and each is returned once.
TEST_F(P19_RevokedAndRecalled_States, RecallsFindTheirDelegations) {
  start();
  const auto delegations = static_cast<std::uint32_t>(testing::scaled(10'000, 100'000));
  for (std::uint32_t i = 0; i < delegations; ++i) {
    files_.push_back(mount().opens().merge({}, wide_handle(i), kRead, stateid_of(i)));
    mount().delegations().take(files_.back().file(), {stateid_of(~i)}, {}, false);
  }
  EXPECT_EQ(counter("delegations"), delegations);
  for (std::uint32_t i = 0; i < delegations; ++i) {
    CB_RECALL4args recall;
    recall.stateid = stateid_of(~i);
    recall.fh = wide_handle(i);
    ASSERT_EQ(mount().delegations().recall(recall), NFS4_OK);
  }
  const TimePoint begun = reactor_.now();
  ASSERT_TRUE(run(getattr(mount(), {}, handle(1))));
  EXPECT_EQ(reactor_.now(), begun);
  reactor_.settle();
  EXPECT_EQ(counter("delegations"), 0U);
  EXPECT_EQ(server_.executions_of(OP_DELEGRETURN), delegations);
  files_.clear();
}

/// A server that takes 10 ms for each request and wants all delegations back.
class P19_RevokedAndRecalled_Delegations : public ServedMount {
 protected:
  static constexpr std::size_t kDelegations = 400;
  static constexpr milliseconds kService{10};
  static constexpr int kUsers = 3;
  static constexpr int kRequests = 200;

  P19_RevokedAndRecalled_Delegations() : ServedMount(DelegationKind::read) {}
  void TearDown() override {
    files_.clear();
    reactor_.settle();
    ServedMount::TearDown();
  }
  void slow_down(nfs_opnum4 opnum) {
    responder::OperationFault slow;
    slow.opnum = opnum;
    slow.times = 1'000'000;
    slow.delay = kService;
    server_.service().inject(slow);
  }
  Task<Result<void>> use(std::vector<Duration>* times) {
    for (int i = 0; i < kRequests; ++i) {
      const TimePoint asked = reactor_.now();
      auto bits = co_await access(mount(), caller(), root(), ACCESS4_READ);
      CO_TRY(bits);
      times->push_back(reactor_.now() - asked);
    }
    co_return Result<void>{};
  }
  /// What 99 of 100 requests take at most.
  Duration slowest_but_one_percent() {
    std::vector<Duration> times;
    Crowd<void> users;
    for (int i = 0; i < kUsers; ++i) users.add(use(&times));
    while (users.done() < users.size()) {
      reactor_.settle();
      reactor_.advance(milliseconds(1));
    }
    users.expect_success();
    std::ranges::sort(times);
    return times[times.size() * 99 / 100];
  }

  std::vector<Opened> files_;
};

TEST_F(P19_RevokedAndRecalled_Delegations, ForegroundWorkGoesOn) {
  for (std::size_t i = 0; i < kDelegations; ++i) {
    const std::string name = "f" + std::to_string(i);
    server_.write_file(name, "x");
    files_.push_back(open_file(name, kRead));
  }
  ASSERT_EQ(counter("delegations"), kDelegations);
  slow_down(OP_ACCESS);
  slow_down(OP_DELEGRETURN);
  const Duration alone = slowest_but_one_percent();
  EXPECT_EQ(server_.service().recall_delegations(), kDelegations);
  const Duration beside = slowest_but_one_percent();
  EXPECT_LT(beside, 2 * alone);
  reactor_.advance(seconds(30));
  EXPECT_EQ(counter("delegations"), 0U);
  EXPECT_EQ(counter("delegations_returned"), kDelegations);
}

}  // namespace
}  // namespace nfsrdma::client::test
