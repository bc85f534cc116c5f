// P22: every callback is answered at once, however busy the mount is, and during its recovery.
#include "client/requests/getattr.h"
#include "client/session/session_setup.h"
#include "tests/pains/crowd.h"

namespace nfsrdma::client::test {
namespace {

using namespace nfs4;

class P22_Callbacks : public FakeMount {
 protected:
  static constexpr slotid4 kCallbackSlots = 16;

  CB_SEQUENCE4args sequence(slotid4 slot, sequenceid4 number) const {
    CB_SEQUENCE4args args;
    args.csa_sessionid = id_;
    args.csa_sequenceid = number;
    args.csa_slotid = slot;
    args.csa_highest_slotid = kCallbackSlots - 1;
    return args;
  }
  void call(const CB_SEQUENCE4args& sequence) {
    server_.call_back(
        [&](xdr::Encoder& out) {
          encode(out, CB_COMPOUND4args_header{"", kNfsMinorVersion1, 0, 2});
          encode_operation(out, sequence);
          encode_operation(out, CB_RECALL_ANY4args{});
        },
        SessionSetup::kCallbackProgram);
  }
  nfsstat4 status(std::size_t answer) const {
    xdr::Decoder in(server_.callback_answers().at(answer).results);
    COMPOUND4res_header header;
    decode(in, header);
    return header.status;
  }

  /// Sixteen callbacks, the same once more, and sixteen with a number too high; all are answered
  /// without a moment passing.
  void expect_answers(sequenceid4 number, nfsstat4 good, nfsstat4 replayed, nfsstat4 misordered) {
    const TimePoint begun = reactor_.now();
    const std::size_t before = server_.callback_answers().size();
    for (const sequenceid4 sent : {number, number, number + 2}) {
      for (slotid4 slot = 0; slot < kCallbackSlots; ++slot) call(sequence(slot, sent));
    }
    reactor_.settle();
    EXPECT_EQ(reactor_.now(), begun);
    ASSERT_EQ(server_.callback_answers().size(), before + 3 * kCallbackSlots);
    for (std::size_t i = 0; i < kCallbackSlots; ++i) {
      EXPECT_EQ(status(before + i), good);
      EXPECT_EQ(status(before + kCallbackSlots + i), replayed);
      EXPECT_EQ(status(before + 2 * kCallbackSlots + i), misordered);
    }
  }
  void fill_slots(Crowd<Attributes>& crowd) {
    server_.fate = [](const Arrival& arrival) {
      return arrival.has(OP_GETATTR) ? Fate::hold : Fate::answer;
    };
    for (std::uint32_t i = 0; i < 4 * kSlots; ++i) crowd.add(getattr(mount(), {}, handle(1)));
    reactor_.settle();
  }
  void SetUp() override {
    start();
    id_ = server_.session();
  }

  sessionid4 id_{};
};

TEST_F(P22_Callbacks, UnderFullLoad) {
  Crowd<Attributes> load;
  fill_slots(load);
  EXPECT_EQ(load.done(), 0U);
  for (sequenceid4 number = 1; number <= 10; ++number) {
    expect_answers(number, NFS4_OK, NFS4_OK, NFS4ERR_SEQ_MISORDERED);
  }
  EXPECT_EQ(counter("callback_replays"), 10U * kCallbackSlots);
  server_.fate = nullptr;
  while (load.done() < load.size()) {
    server_.release();
    reactor_.settle();
  }
  load.expect_success();
}

// The session is gone and the next one is not there yet.
TEST_F(P22_Callbacks, DuringTheRecovery) {
  server_.fate = [](const Arrival& arrival) {
    return arrival.has(OP_CREATE_SESSION) ? Fate::hold : Fate::answer;
  };
  server_.forget(false);
  Crowd<Attributes> load;
  for (std::uint32_t i = 0; i < 4 * kSlots; ++i) load.add(getattr(mount(), {}, handle(1)));
  reactor_.settle();
  EXPECT_EQ(load.done(), 0U);
  const TimePoint begun = reactor_.now();
  const std::size_t before = server_.callback_answers().size();
  for (slotid4 slot = 0; slot < kCallbackSlots; ++slot) call(sequence(slot, 1));
  EXPECT_EQ(server_.callback_answers().size(), before + kCallbackSlots);
  EXPECT_EQ(reactor_.now(), begun);
  server_.fate = nullptr;
  server_.release();
  reactor_.settle();
  load.expect_success();
  id_ = server_.session();
  expect_answers(1, NFS4_OK, NFS4_OK, NFS4ERR_SEQ_MISORDERED);
}

// Callbacks for a session that is not ours, or on slots that do not exist, are refused at once.
TEST_F(P22_Callbacks, NonsenseIsAnsweredToo) {
  for (slotid4 slot = kCallbackSlots; slot < 2 * kCallbackSlots; ++slot) call(sequence(slot, 1));
  id_.fill(std::byte{0xEE});
  call(sequence(0, 1));
  ASSERT_EQ(server_.callback_answers().size(), kCallbackSlots + 1U);
  for (std::size_t i = 0; i < kCallbackSlots; ++i) EXPECT_EQ(status(i), NFS4ERR_BADSLOT);
  EXPECT_EQ(status(kCallbackSlots), NFS4ERR_BADSESSION);
}

}  // namespace
}  // namespace nfsrdma::client::test
