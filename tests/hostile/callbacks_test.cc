// Callbacks that a hostile server sends in bursts while the kernel asks for something: for other
// sessions, in a wrong order, replayed, cut, unknown, at random.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <random>
#include <string_view>

#include "client/proto/compound.h"
#include "client/session/session.h"
#include "client/session/session_setup.h"
#include "tests/hostile/attack.h"

namespace nfsrdma::hostile {
namespace {

using namespace nfs4;

constexpr Over kTransport = Over::HOSTILE_TRANSPORT;
constexpr std::uint32_t kMost = 0xffffffff;

/// What an encoder of callbacks knows; `turn` counts those of a burst.
struct Back {
  sessionid4 session{};
  std::uint32_t turn = 0;
};
using EncodeBack = void (*)(xdr::Encoder& out, const Back& back);

struct Callback {
  const char* name;
  EncodeBack encode;
};

void header(xdr::Encoder& out, std::uint32_t operations, std::uint32_t minor = 1) {
  CB_COMPOUND4args_header head;
  head.minorversion = minor;
  head.operations = operations;
  encode(out, head);
}
CB_SEQUENCE4args sequence(const Back& back) {
  CB_SEQUENCE4args args;
  args.csa_sessionid = back.session;
  args.csa_sequenceid = back.turn + 1;
  return args;
}
template <void (*Change)(CB_SEQUENCE4args&)>
void wrong_sequence(xdr::Encoder& out, const Back& back) {
  CB_SEQUENCE4args args = sequence(back);
  Change(args);
  header(out, 1);
  encode_operation(out, args);
}
template <class Args, const Args& (*Make)()>
void with(xdr::Encoder& out, const Back& back) {
  header(out, 2);
  encode_operation(out, sequence(back));
  encode_operation(out, Make());
}

void other_session(CB_SEQUENCE4args& a) { a.csa_sessionid[0] ^= std::byte{1}; }
void slot_one(CB_SEQUENCE4args& a) { a.csa_slotid = 1; }
void largest_slot(CB_SEQUENCE4args& a) { a.csa_slotid = kMost; }
void largest_highest(CB_SEQUENCE4args& a) { a.csa_highest_slotid = kMost; }
void number_zero(CB_SEQUENCE4args& a) { a.csa_sequenceid = 0; }
void far_ahead(CB_SEQUENCE4args& a) { a.csa_sequenceid += 1000; }
void always_the_first(CB_SEQUENCE4args& a) { a.csa_sequenceid = 1; }
void refers_to_many(CB_SEQUENCE4args& a) {
  a.csa_referring_call_lists.resize(8);
  for (auto& list : a.csa_referring_call_lists) list.rcl_referring_calls.resize(30);
}

const CB_RECALL4args& unknown_recall() {
  static CB_RECALL4args args;
  args.fh.length = 20;
  return args;
}
const CB_GETATTR4args& unknown_getattr() {
  static CB_GETATTR4args args;
  args.fh.length = NFS4_FHSIZE;
  args.attr_request.words.fill(kMost);
  return args;
}
template <std::uint32_t Target>
const CB_RECALL_SLOT4args& recall_slot() {
  static CB_RECALL_SLOT4args args;
  args.rsa_target_highest_slotid = Target;
  return args;
}
template <std::uint32_t Keep>
const CB_RECALL_ANY4args& recall_any() {
  static CB_RECALL_ANY4args args;
  args.craa_objects_to_keep = Keep;
  args.craa_type_mask.words.fill(kMost);
  return args;
}
const CB_NOTIFY_LOCK4args& notify_lock() {
  static CB_NOTIFY_LOCK4args args;
  return args;
}

void nothing(xdr::Encoder&, const Back&) {}
void no_operations(xdr::Encoder& out, const Back&) { header(out, 0); }
void fewer_operations(xdr::Encoder& out, const Back& back) {
  header(out, 5);
  encode_operation(out, sequence(back));
}
void too_many_operations(xdr::Encoder& out, const Back& back) {
  header(out, kMost);
  encode_operation(out, sequence(back));
}
void other_minor(xdr::Encoder& out, const Back&) { header(out, 1, 7); }
void without_sequence(xdr::Encoder& out, const Back&) {
  header(out, 1);
  encode_operation(out, unknown_recall());
}
void sequence_twice(xdr::Encoder& out, const Back& back) {
  header(out, 2);
  encode_operation(out, sequence(back));
  encode_operation(out, sequence(back));
}
template <std::uint32_t Opnum>
void numbered(xdr::Encoder& out, const Back& back) {
  header(out, 2);
  encode_operation(out, sequence(back));
  out.u32(Opnum);
}
void cut_recall(xdr::Encoder& out, const Back& back) {
  with<CB_RECALL4args, unknown_recall>(out, back);
  out.rewind(out.size() - 8);
}
void replayed_otherwise(xdr::Encoder& out, const Back& back) {
  Back first = back;
  first.turn = 0;
  back.turn % 2 == 0 ? with<CB_RECALL4args, unknown_recall>(out, first)
                     : with<CB_RECALL_ANY4args, recall_any<5>>(out, first);
}

constexpr Callback kCallbacks[] = {
    {"nothing", nothing},
    {"no operations", no_operations},
    {"fewer operations than it says", fewer_operations},
    {"2^32 - 1 operations", too_many_operations},
    {"minor version 7", other_minor},
    {"no CB_SEQUENCE", without_sequence},
    {"CB_SEQUENCE twice", sequence_twice},
    {"another session", wrong_sequence<other_session>},
    {"slot 1", wrong_sequence<slot_one>},
    {"the largest slot", wrong_sequence<largest_slot>},
    {"the largest highest slot", wrong_sequence<largest_highest>},
    {"sequence number 0", wrong_sequence<number_zero>},
    {"numbers far ahead", wrong_sequence<far_ahead>},
    {"always the first number", wrong_sequence<always_the_first>},
    {"240 referring calls", wrong_sequence<refers_to_many>},
    {"replays that say something else", replayed_otherwise},
    {"CB_RECALL of nothing", with<CB_RECALL4args, unknown_recall>},
    {"CB_RECALL that is cut", cut_recall},
    {"CB_GETATTR of nothing", with<CB_GETATTR4args, unknown_getattr>},
    {"CB_RECALL_SLOT to one slot", with<CB_RECALL_SLOT4args, recall_slot<0>>},
    {"CB_RECALL_SLOT to 2^32 slots", with<CB_RECALL_SLOT4args, recall_slot<kMost>>},
    {"CB_RECALL_ANY of all", with<CB_RECALL_ANY4args, recall_any<0>>},
    {"CB_RECALL_ANY of none", with<CB_RECALL_ANY4args, recall_any<kMost>>},
    {"CB_NOTIFY_LOCK of nobody", with<CB_NOTIFY_LOCK4args, notify_lock>},
    {"CB_LAYOUTRECALL without arguments", numbered<OP_CB_LAYOUTRECALL>},
    {"CB_ILLEGAL", numbered<OP_CB_ILLEGAL>},
    {"operation 99", numbered<99>},
    {"the largest operation", numbered<kMost>},
};

class Callbacks : public ::testing::TestWithParam<KernelOperation> {
 protected:
  static constexpr std::uint32_t kBurst = 8;  ///< as many as the connection takes at once

  void TearDown() override {
    std::printf("%d attacks: %d succeeded, %d failed, %d killed; %d answered, %d not\n",
                attacker_.attacks(), attacker_.succeeded, attacker_.failed, attacker_.killed,
                answered_, unanswered_);
    EXPECT_GT(answered_, 0) << "callbacks arrive";
  }
  void burst(HostileService& server, const std::function<void(xdr::Encoder&, const Back&)>& write) {
    ASSERT_FALSE(server.connections().empty());
    responder::CallbackTarget target;
    target.program = client::SessionSetup::kCallbackProgram;
    Back back;
    back.session = attacker_.mount().mount().session().id();
    for (back.turn = 0; back.turn < kBurst; ++back.turn) {
      (void)server.connections().back()->call_back(
          target, [&](xdr::Encoder& out) { write(out, back); },
          [this](const Result<xdr::Decoder>& result) { ++(result ? answered_ : unanswered_); });
    }
  }

  Attacker attacker_{{.over = kTransport}};
  int answered_ = 0;
  int unanswered_ = 0;
};

TEST_P(Callbacks, InBursts) {
  for (const Callback& callback : kCallbacks) {
    attacker_.attack(GetParam(), callback.name,
                     [&](HostileService& server) { burst(server, callback.encode); });
    ASSERT_LE(attacker_.failures(), Attacker::kMostFailures);
  }
}

// The seed is in the name of the attack.
TEST_P(Callbacks, OfRandomBytes) {
  constexpr std::uint32_t kSeeds = 40;
  for (std::uint32_t seed = 1; seed <= kSeeds; ++seed) {
    std::mt19937 random(seed);
    attacker_.attack(GetParam(), "seed " + std::to_string(seed), [&](HostileService& server) {
      burst(server, [&](xdr::Encoder& out, const Back& back) {
        constexpr std::size_t kCallbackCount = std::size(kCallbacks);
        const std::size_t before = out.size();
        kCallbacks[random() % kCallbackCount].encode(out, back);
        for (unsigned words = random() % 4; words > 0; --words) {
          const std::size_t length = (out.size() - before) / 4;
          if (length == 0) break;
          out.patch(before + random() % length * 4, random() % 2 == 0 ? random() : random() % 64);
        }
      });
    });
    ASSERT_LE(attacker_.failures(), Attacker::kMostFailures);
  }
}

INSTANTIATE_TEST_SUITE_P(Of, Callbacks, ::testing::ValuesIn(kernel_operations()),
                         [](const auto& operation) { return operation.param.name; });

}  // namespace
}  // namespace nfsrdma::hostile
