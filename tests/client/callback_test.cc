// The client as a server of callbacks: CB_SEQUENCE's slots and replay cache, and what it answers.
#include <gtest/gtest.h>

#include <array>
#include <chrono>

#include "client/callback/callback_slots.h"
#include "client/session/session_setup.h"
#include "client/state/lock_waiters.h"
#include "tests/client/fake_mount.h"

namespace nfsrdma::client::test {
namespace {

using namespace nfs4;

class CallbackTest : public FakeMount {
 protected:
  void SetUp() override { start(); }

  CB_SEQUENCE4args sequence(sequenceid4 number, slotid4 slot = 0) const {
    CB_SEQUENCE4args args;
    args.csa_sessionid = server_.session();
    args.csa_sequenceid = number;
    args.csa_slotid = slot;
    return args;
  }

  /// A CB_COMPOUND of these operations; the bytes of its results.
  template <class... Ops>
  std::vector<std::byte> call(const Ops&... ops) {
    return call_minor(kNfsMinorVersion1, ops...);
  }
  template <class... Ops>
  std::vector<std::byte> call_minor(std::uint32_t minorversion, const Ops&... ops) {
    server_.call_back(
        [&](xdr::Encoder& out) {
          encode(out, CB_COMPOUND4args_header{"tag", minorversion, 0, sizeof...(Ops)});
          (encode_operation(out, ops), ...);
        },
        SessionSetup::kCallbackProgram);
    EXPECT_EQ(server_.callback_answers().back().status, rpc::AcceptStat::success);
    return server_.callback_answers().back().results;
  }
  /// One result by its number alone.
  void send_opnum(std::uint32_t opnum) {
    server_.call_back(
        [&](xdr::Encoder& out) {
          encode(out, CB_COMPOUND4args_header{"", kNfsMinorVersion1, 0, 2});
          encode_operation(out, sequence(++number_));
          out.u32(opnum);
        },
        SessionSetup::kCallbackProgram);
  }
  nfsstat4 status_of_opnum(std::uint32_t opnum, std::uint32_t* answered = nullptr) {
    send_opnum(opnum);
    xdr::Decoder in(server_.callback_answers().back().results);
    COMPOUND4res_header header;
    decode(in, header);
    CB_SEQUENCE4res first;
    decode_result(in, first);
    const std::uint32_t resop = in.u32("resop");
    if (answered) *answered = resop;
    const auto status = static_cast<nfsstat4>(in.u32("status"));
    EXPECT_TRUE(in.finish("CB_COMPOUND"));
    EXPECT_EQ(header.operations, 2U);
    EXPECT_EQ(header.status, status);
    return status;
  }

  static COMPOUND4res_header header_of(const std::vector<std::byte>& results) {
    xdr::Decoder in(results);
    COMPOUND4res_header header;
    decode(in, header);
    return {header.status, {}, header.operations};
  }

  sequenceid4 number_ = 0;
};

TEST_F(CallbackTest, NullIsAnswered) {
  server_.call_back([](xdr::Encoder&) {}, SessionSetup::kCallbackProgram, 1, kProcCbNull);
  ASSERT_EQ(server_.callback_answers().size(), 1U);
  EXPECT_EQ(server_.callback_answers()[0].status, rpc::AcceptStat::success);
  EXPECT_TRUE(server_.callback_answers()[0].results.empty());
}

// E-8881-13, F-24: versions 1 and 4.
TEST_F(CallbackTest, ProgramVersionAndProcedureAreChecked) {
  const auto status = [this](std::uint32_t program, std::uint32_t version,
                             std::uint32_t procedure) {
    server_.call_back([](xdr::Encoder&) {}, program, version, procedure);
    return server_.callback_answers().back().status;
  };
  EXPECT_EQ(status(SessionSetup::kCallbackProgram, 4, 0), rpc::AcceptStat::success);
  EXPECT_EQ(status(SessionSetup::kCallbackProgram, 1, 0), rpc::AcceptStat::success);
  EXPECT_EQ(status(SessionSetup::kCallbackProgram, 3, 0), rpc::AcceptStat::prog_mismatch);
  EXPECT_EQ(status(SessionSetup::kCallbackProgram, 1, 2), rpc::AcceptStat::proc_unavail);
  EXPECT_EQ(status(100003, 4, 0), rpc::AcceptStat::prog_unavail);
  EXPECT_EQ(status(SessionSetup::kCallbackProgram, 1, 1), rpc::AcceptStat::garbage_args);
}

TEST_F(CallbackTest, SequenceMovesItsSlot) {
  for (sequenceid4 number = 1; number <= 3; ++number) {
    const auto results = call(sequence(number));
    xdr::Decoder in(results);
    COMPOUND4res_header header;
    decode(in, header);
    CB_SEQUENCE4res result;
    decode_result(in, result);
    ASSERT_TRUE(in.finish("CB_COMPOUND"));
    EXPECT_EQ(header.status, NFS4_OK);
    EXPECT_EQ(header.tag, "tag");
    EXPECT_EQ(result.csr_resok4.csr_sequenceid, number);
    EXPECT_EQ(result.csr_resok4.csr_sessionid, server_.session());
  }
}

// BD-12, E-8881-3: the same results, without being executed again.
TEST_F(CallbackTest, AReplayGetsTheSameResults) {
  CB_RECALL_SLOT4args recall;
  recall.rsa_target_highest_slotid = 2;
  const auto first = call(sequence(1), recall);
  EXPECT_EQ(counter("session_slots_usable"), 3U);
  server_.target_highest_slotid = 5;
  const auto again = call(sequence(1), recall);
  EXPECT_EQ(first, again);
  EXPECT_EQ(counter("callback_replays"), 1U);
}

TEST_F(CallbackTest, AnotherRequestWithAUsedNumberIsAFalseRetry) {
  call(sequence(1));
  EXPECT_EQ(header_of(call(sequence(1), CB_RECALL_ANY4args{})).status, NFS4ERR_SEQ_FALSE_RETRY);
}

TEST_F(CallbackTest, WrongSequencesAreRefused) {
  EXPECT_EQ(header_of(call(sequence(2))).status, NFS4ERR_SEQ_MISORDERED);
  EXPECT_EQ(header_of(call(sequence(1, 1000))).status, NFS4ERR_BADSLOT);
  auto high = sequence(1);
  high.csa_highest_slotid = 1000;
  EXPECT_EQ(header_of(call(high)).status, NFS4ERR_BAD_HIGH_SLOT);
  auto foreign = sequence(1);
  foreign.csa_sessionid.fill(std::byte{0xEE});
  EXPECT_EQ(header_of(call(foreign)).status, NFS4ERR_BADSESSION);
  EXPECT_EQ(header_of(call(sequence(1))).status, NFS4_OK) << "nothing has moved the slot";
}

TEST_F(CallbackTest, ThePlaceOfSequenceIsChecked) {
  EXPECT_EQ(header_of(call(CB_RECALL_ANY4args{})).status, NFS4ERR_OP_NOT_IN_SESSION);
  const auto twice = header_of(call(sequence(1), sequence(2)));
  EXPECT_EQ(twice.status, NFS4ERR_SEQUENCE_POS);
  EXPECT_EQ(twice.operations, 2U);
}

TEST_F(CallbackTest, TooManyOperationsAreRefused) {
  const CB_RECALL_ANY4args any;
  EXPECT_EQ(header_of(call(sequence(1), any, any, any, any, any, any, any, any)).status,
            NFS4ERR_TOO_MANY_OPS);
}

TEST_F(CallbackTest, AnotherMinorVersionIsRefused) {
  const auto header = header_of(call_minor(2, sequence(1)));
  EXPECT_EQ(header.status, NFS4ERR_MINOR_VERS_MISMATCH);
  EXPECT_EQ(header.operations, 0U);
}

TEST_F(CallbackTest, OperationsGetTheAnswersOfAClientWithoutDelegations) {
  EXPECT_EQ(header_of(call(sequence(1), CB_RECALL4args{})).status, NFS4_OK);
  EXPECT_EQ(header_of(call(sequence(2), CB_RECALL_ANY4args{})).status, NFS4_OK);
  EXPECT_EQ(header_of(call(sequence(3), CB_NOTIFY_LOCK4args{})).status, NFS4_OK);
  EXPECT_EQ(header_of(call(sequence(4), CB_GETATTR4args{})).status, NFS4ERR_BADHANDLE);
  number_ = 4;
  EXPECT_EQ(status_of_opnum(OP_CB_LAYOUTRECALL), NFS4ERR_NOMATCHING_LAYOUT);
  EXPECT_EQ(status_of_opnum(OP_CB_NOTIFY_DEVICEID), NFS4ERR_NOTSUPP);
  EXPECT_EQ(status_of_opnum(OP_CB_PUSH_DELEG), NFS4ERR_NOTSUPP);
  std::uint32_t answered = 0;
  EXPECT_EQ(status_of_opnum(77, &answered), NFS4ERR_OP_ILLEGAL);
  EXPECT_EQ(answered, static_cast<std::uint32_t>(OP_CB_ILLEGAL));
}

TEST_F(CallbackTest, TruncatedArgumentsAreBadXdr) {
  EXPECT_EQ(status_of_opnum(OP_CB_RECALL), NFS4ERR_BADXDR);
}

// E-8881-8
TEST_F(CallbackTest, RecalledSlotsAreNotUsed) {
  CB_RECALL_SLOT4args recall;
  recall.rsa_target_highest_slotid = 0;
  call(sequence(1), recall);
  EXPECT_EQ(counter("session_slots_usable"), 1U);
}

Task<void> wait_for_lock(LockWaiters* waiters, FileHandle file, bool* woken) {
  LockWaiters::Turn turn(*waiters, file, {LockKind::posix, 7}, {}, true, false);
  LockWaiters::Wait wait(turn, std::chrono::hours(1));
  co_await wait;
  *woken = true;
}

// RFC 8881 section 20.11: a program that is blocked in F_SETLKW asks again at once.
TEST_F(CallbackTest, NotifyLockWakesWhoWaitsForALockOfThatFile) {
  bool woken = false;
  bool other_woken = false;
  spawn(wait_for_lock(&mount().lock_waiters(), handle(1), &woken));
  spawn(wait_for_lock(&mount().lock_waiters(), handle(2), &other_woken));
  CB_NOTIFY_LOCK4args args;
  args.cnla_fh = handle(1);
  EXPECT_EQ(header_of(call(sequence(1), args)).status, NFS4_OK);
  reactor_.settle();
  EXPECT_TRUE(woken);
  EXPECT_FALSE(other_woken);
  mount().lock_waiters().end();
  reactor_.settle();
  EXPECT_TRUE(other_woken);
}

// RFC 8881 section 2.10.6.1.3: results beyond ca_maxresponsesize_cached are not kept.
TEST(CallbackSlotsTest, AResultThatIsTooLongIsNotKept) {
  channel_attrs4 back;
  back.ca_maxrequests = 2;
  back.ca_maxresponsesize_cached = 8;
  CallbackSlots slots;
  slots.reset({}, back);
  const std::array<std::byte, 9> result{};
  for (const slotid4 slot : {0U, 1U}) {
    CB_SEQUENCE4args args;
    args.csa_sequenceid = 1;
    args.csa_slotid = slot;
    const bool fits = slot == 0;
    EXPECT_EQ(slots.judge(args, 7).kind, CallbackSlots::Kind::fresh);
    slots.finish(slot, std::span(result).first(fits ? 8 : 9));
    const auto again = slots.judge(args, 7);
    EXPECT_EQ(again.kind, fits ? CallbackSlots::Kind::replay : CallbackSlots::Kind::refused);
    EXPECT_EQ(again.status, fits ? NFS4_OK : NFS4ERR_RETRY_UNCACHED_REP);
  }
}

}  // namespace
}  // namespace nfsrdma::client::test
