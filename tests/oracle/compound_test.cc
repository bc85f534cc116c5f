// COMPOUND and CB_COMPOUND as a whole against libtirpc, and how results are told apart.
#include <gtest/gtest.h>

#include <functional>

#include "tests/oracle/random.h"
#include "tests/oracle/recode.h"
#include "tests/oracle/wire_type.h"
#include "tests/proto/operations.h"

namespace nfsrdma::oracle {
namespace {

constexpr std::uint32_t kSeed = 18;
constexpr int kCompounds = 300;
constexpr std::uint32_t kMostOperations = 6;

using Append = std::function<void(Random&, xdr::Encoder&)>;

/// One function for each operation: appends it with random arguments, or with random results.
template <class List>
std::vector<Append> appenders(bool results) {
  std::vector<Append> all;
  List::for_each([&](auto operation) {
    using Op = decltype(operation);
    all.push_back([results](Random& random, xdr::Encoder& out) {
      typename Op::Args args;
      typename Op::Res res;
      if (results) {
        random.fill(res);
        nfs4::encode_operation(out, res);
      } else {
        random.fill(args);
        nfs4::encode_operation(out, args);
      }
    });
  });
  return all;
}

/// Random compounds of all operations are the same to libtirpc. The header's count is patched, as a
/// caller does that does not know it before.
template <class List, class Header>
void compare_compounds(const std::string& type, bool results) {
  const auto all = appenders<List>(results);
  Random random(kSeed);
  for (int i = 0; i < kCompounds; ++i) {
    Bytes memory(kMostBytesOfAValue);
    xdr::Encoder out(memory);
    Header header;
    random.fill(header);
    const std::size_t count_at = nfs4::encode_header(out, header);
    const std::uint32_t operations = random.below(kMostOperations);
    for (std::uint32_t n = 0; n < operations && out.omitted().size() < 4; ++n) {
      all[random.below(static_cast<std::uint32_t>(all.size()))](random, out);
      out.patch(count_at, n + 1);
    }
    if (operations == 0) out.patch(count_at, 0);
    ASSERT_TRUE(out.ok());
    const Bytes bytes = testing_support::unreduced(out);
    const Recoded theirs = recode(type, bytes);
    ASSERT_TRUE(theirs.decoded);
    EXPECT_EQ(theirs.consumed, bytes.size());
    EXPECT_EQ(theirs.encoded, bytes);
  }
}

TEST(CompoundOracle, Arguments) {
  compare_compounds<nfs4::Operations, nfs4::COMPOUND4args_header>("COMPOUND4args", false);
}
TEST(CompoundOracle, Results) {
  compare_compounds<nfs4::Operations, nfs4::COMPOUND4res_header>("COMPOUND4res", true);
}
TEST(CompoundOracle, CallbackArguments) {
  compare_compounds<nfs4::CallbackOperations, nfs4::CB_COMPOUND4args_header>("CB_COMPOUND4args",
                                                                             false);
}
TEST(CompoundOracle, CallbackResults) {
  compare_compounds<nfs4::CallbackOperations, nfs4::CB_COMPOUND4res_header>("CB_COMPOUND4res",
                                                                            true);
}

/// An encoded result of `opnum` with that status and nothing behind it.
Bytes bare_result(std::uint32_t opnum, nfs4::nfsstat4 status) {
  Bytes memory(2 * xdr::kUnit);
  xdr::Encoder out(memory);
  out.u32(opnum);
  out.u32(status);
  return memory;
}

TEST(CompoundResult, OfAnotherOperationIsNotAccepted) {
  const Bytes bytes = bare_result(nfs4::OP_GETFH, nfs4::NFS4ERR_STALE);
  xdr::Decoder in(bytes);
  nfs4::PUTFH4res res;
  nfs4::decode_result(in, res);
  EXPECT_EQ(in.fault(), xdr::Fault::unexpected);
}

// RFC 8881 section 18.53: an operation a server does not know is answered as OP_ILLEGAL.
TEST(CompoundResult, IllegalIsAFailureOfWhatWasAsked) {
  const Bytes bytes = bare_result(nfs4::OP_ILLEGAL, nfs4::NFS4ERR_OP_ILLEGAL);
  xdr::Decoder in(bytes);
  nfs4::SEQUENCE4res res;
  nfs4::decode_result(in, res);
  EXPECT_TRUE(in.finish("result"));
  EXPECT_EQ(res.sr_status, nfs4::NFS4ERR_OP_ILLEGAL);
}

TEST(CompoundResult, EveryResultHasAStatus) {
  int results = 0;
  const auto check = [&](auto operation) {
    typename decltype(operation)::Res res;
    nfs4::status_of(res) = nfs4::NFS4ERR_DELAY;
    const Bytes bytes = bytes_of(res);
    ASSERT_GE(bytes.size(), xdr::kUnit);
    EXPECT_EQ(xdr::Decoder(bytes).u32("status"), nfs4::NFS4ERR_DELAY);
    ++results;
  };
  nfs4::Operations::for_each(check);
  nfs4::CallbackOperations::for_each(check);
  EXPECT_EQ(results, 50);
}

TEST(Operation, NumbersHaveNamesAndDispatch) {
  EXPECT_EQ(nfs4::operation_name(nfs4::OP_READ), "READ");
  EXPECT_EQ(nfs4::operation_name(nfs4::OP_RECLAIM_COMPLETE), "RECLAIM_COMPLETE");
  EXPECT_EQ(nfs4::operation_name(nfs4::OP_ILLEGAL), "ILLEGAL");
  EXPECT_EQ(nfs4::operation_name(static_cast<nfs4::nfs_opnum4>(59)), "unknown");
  EXPECT_EQ(nfs4::operation_name(nfs4::OP_CB_SEQUENCE), "CB_SEQUENCE");
  EXPECT_FALSE(nfs4::Operations::dispatch(nfs4::OP_LAYOUTGET, [](auto) { FAIL(); }));
  std::uint32_t found = 0;
  EXPECT_TRUE(nfs4::Operations::dispatch(
      nfs4::OP_WRITE, [&](auto operation) { found = decltype(operation)::Args::opnum; }));
  EXPECT_EQ(found, nfs4::OP_WRITE);
}

TEST(Status, EveryValueHasItsOwnName) {
  std::set<std::string_view> names;
  for (const auto status : nfs4::all_statuses()) {
    EXPECT_TRUE(nfs4::is_defined(status));
    EXPECT_TRUE(names.insert(nfs4::status_name(status)).second) << status;
  }
  EXPECT_FALSE(nfs4::is_defined(static_cast<nfs4::nfsstat4>(3)));
  EXPECT_EQ(nfs4::status_name(static_cast<nfs4::nfsstat4>(3)), "");
}

TEST(Status, ErrorsOfTheNfsLayerAreSpelledOut) {
  nfs4::register_status_names();
  const Error error{Layer::nfs, nfs4::NFS4ERR_STALE, "GETATTR", "handle 7"};
  EXPECT_EQ(error.message(), "GETATTR: NFS4ERR_STALE (handle 7)");
}

}  // namespace
}  // namespace nfsrdma::oracle
