// Encoding a COMPOUND, and reading a reply that may be anything.
#include "client/compound/compound.h"

#include <gtest/gtest.h>

#include "client/compound/compound_pool.h"
#include "client/proto/attributes.h"
#include "tests/client/run_task.h"
#include "tests/proto/operations.h"
#include "tests/support/virtual_reactor.h"

namespace nfsrdma::client::test {
namespace {

using namespace nfs4;

class CompoundTest : public ::testing::Test {
 protected:
  CompoundTest() : compound_(pool_->acquire()) {}

  /// A reply with these results, and its header.
  template <class... Res>
  std::vector<std::byte> reply(nfsstat4 status, const Res&... results) {
    std::vector<std::byte> memory(8192);
    xdr::Encoder out(memory);
    encode(out, COMPOUND4res_header{status, "", sizeof...(Res)});
    (encode_operation(out, results), ...);
    memory.resize(out.size());
    return memory;
  }

  std::unique_ptr<BufferPool> pool_ = std::move(*BufferPool::create(8192, 4));
  Compound compound_;
};

constexpr nfs_opnum4 kAsked[] = {OP_PUTFH, OP_GETFH};

Result<void> read_both(std::vector<std::byte> bytes) {
  xdr::Decoder in(bytes);
  CompoundReader reader;
  TRY(reader.open(in, kAsked));
  PUTFH4res put;
  TRY(reader.read(put));
  GETFH4res get;
  TRY(reader.read(get));
  return reader.finish();
}

TEST_F(CompoundTest, EncodesHeaderAndOperationsInOrder) {
  compound_.begin({}, "machine");
  compound_.add(PUTROOTFH4args{});
  compound_.add(LOOKUP4args{"name"});
  ASSERT_TRUE(compound_.seal());
  SEQUENCE4args sequence;
  sequence.sa_sequenceid = 7;
  sequence.sa_slotid = 3;
  compound_.set_sequence(sequence);
  compound_.set_xid(0x12345678);

  xdr::Decoder in(compound_.call().encoder.encoded());
  auto header = rpc::decode_call_header(in);
  ASSERT_TRUE(header);
  EXPECT_EQ(header->xid, 0x12345678U);
  EXPECT_EQ(header->program, rpc::kNfsProgram);
  EXPECT_EQ(header->version, 4U);
  EXPECT_EQ(header->procedure, kProcCompound);
  COMPOUND4args_header args;
  decode(in, args);
  EXPECT_EQ(args.minorversion, 1U);
  EXPECT_EQ(args.operations, 3U);
  EXPECT_EQ(in.u32("opnum"), static_cast<std::uint32_t>(OP_SEQUENCE));
  SEQUENCE4args decoded;
  decode(in, decoded);
  EXPECT_EQ(decoded.sa_sequenceid, 7U);
  EXPECT_EQ(decoded.sa_slotid, 3U);
  EXPECT_EQ(in.u32("opnum"), static_cast<std::uint32_t>(OP_PUTROOTFH));
  EXPECT_EQ(in.u32("opnum"), static_cast<std::uint32_t>(OP_LOOKUP));
  LOOKUP4args lookup;
  decode(in, lookup);
  EXPECT_EQ(lookup.objname, "name");
  EXPECT_TRUE(in.finish("COMPOUND"));
}

// V1-4.3.3-1, E-8267-2: the bound covers the longest reply of the operations asked.
TEST_F(CompoundTest, BoundsTheReply) {
  compound_.begin({}, "machine");
  compound_.add(GETFH4args{});
  ASSERT_TRUE(compound_.seal());
  GETFH4res longest;
  longest.resok4.object.length = NFS4_FHSIZE;
  const auto bytes = reply(NFS4_OK, SEQUENCE4res{}, longest);
  EXPECT_EQ(compound_.call().max_reply, rpc::kAcceptedReplyHeader + bytes.size());
}

TEST_F(CompoundTest, RefusesWhatDoesNotFit) {
  const std::string name(4096, 'n');
  compound_.begin({}, "machine");
  compound_.add(RENAME4args{name, name});
  EXPECT_FALSE(compound_.seal());
  compound_.begin({}, "machine");
  for (std::size_t i = 0; i < Compound::kMaxOperations; ++i) compound_.add(GETFH4args{});
  EXPECT_FALSE(compound_.seal());
}

TEST_F(CompoundTest, KnowsWhatMustNotBeRepeated) {
  compound_.begin({}, "machine");
  compound_.add(PUTFH4args{});
  compound_.add(REMOVE4args{"x"});
  compound_.add(GETATTR4args{});
  EXPECT_TRUE(compound_.repeatable_after(1));
  EXPECT_TRUE(compound_.repeatable_after(2));
  EXPECT_FALSE(compound_.repeatable_after(3));
}

/// A state whose stateid is told by its seqid.
struct NumberedState final : StateHolder {
  explicit NumberedState(std::uint32_t seqid) : number(seqid) {}
  stateid4 stateid() const override { return {number, {}}; }
  bool lost() const override { return is_lost; }
  bool recovering() const override { return is_recovering; }
  void on_refused(nfsstat4 status) override { refused = status; }

  std::uint32_t number;
  bool is_lost = false;
  bool is_recovering = false;
  nfsstat4 refused = NFS4_OK;
};

/// The request PUTFH WRITE WRITE, a state for each WRITE.
class CompoundStatesTest : public CompoundTest {
 protected:
  CompoundStatesTest() {
    compound_.begin({}, "machine");
    compound_.add(PUTFH4args{});
    compound_.use_state(first_);
    compound_.add(WRITE4args{});
    compound_.use_state(second_);
    compound_.add(WRITE4args{});
    EXPECT_TRUE(compound_.seal());
    compound_.set_stateids();
  }

  /// The server fails the first WRITE.
  void answer(nfsstat4 status) {
    WRITE4res failed;
    failed.status = status;
    message_ = reply(status, SEQUENCE4res{}, PUTFH4res{}, failed);
    in_ = xdr::Decoder(message_);
    EXPECT_TRUE(compound_.results().open(in_, compound_.asked()));
  }

  std::shared_ptr<NumberedState> first_ = std::make_shared<NumberedState>(11);
  std::shared_ptr<NumberedState> second_ = std::make_shared<NumberedState>(22);
  std::vector<std::byte> message_;
  xdr::Decoder in_{message_};
};

TEST_F(CompoundStatesTest, EachOperationSendsTheStateidOfItsOwn) {
  xdr::Decoder in(compound_.call().encoder.encoded());
  ASSERT_TRUE(rpc::decode_call_header(in));
  COMPOUND4args_header header;
  decode(in, header);
  ASSERT_EQ(header.operations, 4U);
  in.u32("opnum");
  SEQUENCE4args sequence;
  decode(in, sequence);
  in.u32("opnum");
  PUTFH4args put;
  decode(in, put);
  for (const std::uint32_t number : {11U, 22U}) {
    EXPECT_EQ(in.u32("opnum"), static_cast<std::uint32_t>(OP_WRITE));
    WRITE4args write;
    decode(in, write);
    EXPECT_EQ(write.stateid.seqid, number);
  }
}

TEST_F(CompoundStatesTest, OneStateDecidesForAll) {
  EXPECT_FALSE(compound_.state_lost());
  EXPECT_FALSE(compound_.state_recovering());
  second_->is_lost = true;
  EXPECT_TRUE(compound_.state_lost());
  first_->is_recovering = true;
  EXPECT_TRUE(compound_.state_recovering());
}

TEST_F(CompoundStatesTest, OnlyStatesOfTheFailedOperationAreTold) {
  answer(NFS4ERR_EXPIRED);
  EXPECT_TRUE(compound_.state_refused());
  EXPECT_TRUE(compound_.tell_refused_states());
  EXPECT_EQ(first_->refused, NFS4ERR_EXPIRED);
  EXPECT_EQ(second_->refused, NFS4_OK);
}

TEST_F(CompoundStatesTest, AStateThatWasReplacedMeanwhileIsNotTold) {
  answer(NFS4ERR_EXPIRED);
  first_->number = 12;
  EXPECT_TRUE(compound_.state_refused());
  EXPECT_FALSE(compound_.tell_refused_states());
  EXPECT_EQ(first_->refused, NFS4_OK);
}

TEST_F(CompoundStatesTest, AnotherErrorRefusesNoState) {
  answer(NFS4ERR_NOSPC);
  EXPECT_FALSE(compound_.state_refused());
  EXPECT_FALSE(compound_.tell_refused_states());
}

TEST_F(CompoundTest, ReadsAGoodReply) {
  EXPECT_TRUE(read_both(reply(NFS4_OK, PUTFH4res{}, GETFH4res{})));
}

TEST_F(CompoundTest, AFailedOperationIsNamedWithItsPlace) {
  GETFH4res failed;
  failed.status = NFS4ERR_STALE;
  auto result = read_both(reply(NFS4ERR_STALE, PUTFH4res{}, failed));
  ASSERT_FALSE(result);
  EXPECT_TRUE(result.error().is(Layer::nfs, NFS4ERR_STALE));
  EXPECT_STREQ(result.error().step, "GETFH");
  EXPECT_EQ(result.error().detail, "op 2 of 2");
}

TEST_F(CompoundTest, RefusesRepliesToSomethingElse) {
  PUTFH4res failed;
  failed.status = NFS4ERR_STALE;
  const std::vector<std::vector<std::byte>> bad = {
      reply(NFS4_OK, GETFH4res{}, PUTFH4res{}),               // other operations
      reply(NFS4_OK, PUTFH4res{}),                            // too few
      reply(NFS4_OK, PUTFH4res{}, GETFH4res{}, PUTFH4res{}),  // too many
      reply(NFS4_OK),                                         // none
      reply(NFS4_OK, PUTFH4res{}, SAVEFH4res{}),              // one other
      reply(NFS4ERR_STALE, PUTFH4res{}, GETFH4res{}),         // status without a failure
      reply(NFS4_OK, failed),                                 // a failure without status
      reply(NFS4ERR_STALE, failed, GETFH4res{}),              // results behind a failure
      reply(static_cast<nfsstat4>(4242), PUTFH4res{}),        // undefined status
  };
  for (std::size_t i = 0; i < bad.size(); ++i) {
    auto result = read_both(bad[i]);
    ASSERT_FALSE(result) << i;
    EXPECT_EQ(result.error().layer, Layer::decode) << i << ": " << result.error().message();
  }
}

TEST_F(CompoundTest, RefusesTrailingAndMissingBytes) {
  auto bytes = reply(NFS4_OK, PUTFH4res{}, GETFH4res{});
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(read_both({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)}));
  }
  bytes.resize(bytes.size() + 4);
  EXPECT_FALSE(read_both(bytes));
}

TEST_F(CompoundTest, AServerWithoutTheOperationIsUnderstood) {
  std::vector<std::byte> memory(256);
  xdr::Encoder out(memory);
  encode(out, COMPOUND4res_header{NFS4ERR_OP_ILLEGAL, "", 1});
  out.u32(OP_ILLEGAL);
  out.u32(NFS4ERR_OP_ILLEGAL);
  memory.resize(out.size());
  auto result = read_both(memory);
  ASSERT_FALSE(result);
  EXPECT_TRUE(result.error().is(Layer::nfs, NFS4ERR_OP_ILLEGAL));
}

/// As Linux knfsd fails SETATTR when the reply has no room: without its attrsset.
std::vector<std::byte> lone_status(nfsstat4 status) {
  std::vector<std::byte> memory(256);
  xdr::Encoder out(memory);
  encode(out, COMPOUND4res_header{status, "", 1});
  out.u32(OP_SETATTR);
  out.u32(status);
  memory.resize(out.size());
  return memory;
}

Result<void> read_setattr(const std::vector<std::byte>& bytes) {
  constexpr nfs_opnum4 kSetattr[] = {OP_SETATTR};
  xdr::Decoder in(bytes);
  CompoundReader reader;
  TRY(reader.open(in, kSetattr));
  SETATTR4res set;
  return reader.read(set);
}

TEST_F(CompoundTest, AFailureOfSetattrMayBeItsStatusAlone) {
  auto too_big = read_setattr(lone_status(NFS4ERR_REP_TOO_BIG));
  ASSERT_FALSE(too_big);
  EXPECT_TRUE(too_big.error().is(Layer::nfs, NFS4ERR_REP_TOO_BIG)) << too_big.error().message();
  auto bytes = lone_status(NFS4ERR_REP_TOO_BIG);
  bytes.resize(bytes.size() - 1);
  EXPECT_EQ(read_setattr(bytes).error().layer, Layer::decode) << "a part of the status";
  EXPECT_EQ(read_setattr(lone_status(NFS4_OK)).error().layer, Layer::decode) << "a success";
}

TEST_F(CompoundTest, AFailureOfSetattrIsReadWithItsAttributes) {
  SETATTR4res set;
  set.status = NFS4ERR_NOSPC;
  set.attrsset = {FATTR4_MODE};
  auto failed = read_setattr(reply(NFS4ERR_NOSPC, set));
  ASSERT_FALSE(failed);
  EXPECT_TRUE(failed.error().is(Layer::nfs, NFS4ERR_NOSPC)) << failed.error().message();
}

Task<void> hold_one(CompoundPool* pool, std::vector<CompoundRef>* held) {
  const Credential caller;
  CompoundRef compound = co_await pool->acquire(caller);
  held->push_back(std::move(compound));
}

TEST(CompoundPoolTest, WaitersAreServedInOrderAndReservedOnesAreLeft) {
  VirtualReactor reactor;
  auto buffers = std::move(*BufferPool::create(8192, 16));
  CompoundPool pool(reactor, *buffers, 2, "machine");
  std::vector<CompoundRef> held;
  for (int i = 0; i < 4; ++i) spawn(hold_one(&pool, &held));
  EXPECT_EQ(held.size(), 2U);
  CompoundRef reserved = pool.acquire_reserved();
  EXPECT_TRUE(reserved);
  held.erase(held.begin());
  reactor.settle();
  EXPECT_EQ(held.size(), 2U);
  pool.close();
  reactor.settle();
  ASSERT_EQ(held.size(), 3U);
  EXPECT_FALSE(held.back()) << "a closed pool gives nothing";
  held.clear();
  reserved.reset();
  EXPECT_EQ(pool.in_use(), 0U);
}

TEST(CompoundPoolTest, XidsAreNeverZero) {
  VirtualReactor reactor;
  auto buffers = std::move(*BufferPool::create(8192, 16));
  CompoundPool pool(reactor, *buffers, 2, "machine");
  std::uint32_t last = pool.next_xid();
  for (int i = 0; i < 1000; ++i) {
    const std::uint32_t next = pool.next_xid();
    EXPECT_NE(next, 0U);
    EXPECT_NE(next, last);
    last = next;
  }
}

}  // namespace
}  // namespace nfsrdma::client::test
