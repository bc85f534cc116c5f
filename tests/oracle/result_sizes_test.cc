// The rows of client/proto/operations.def against the types themselves.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "client/proto/operations.h"
#include "tests/proto/operations.h"
#include "tests/proto/size.h"

namespace nfsrdma::nfs4 {
namespace {

/// Bounded by what real servers send, or by the arguments, and not by the type.
constexpr std::array kEstimated = {OP_EXCHANGE_ID, OP_GETATTR,         OP_OPEN,        OP_READDIR,
                                   OP_SECINFO,     OP_SECINFO_NO_NAME, OP_TEST_STATEID};

/// Counts the stateids and the DDP-eligible items of a type; of a union, those of all arms.
struct Count {
  std::uint32_t stateids = 0;
  std::uint32_t payloads = 0;

  void operator()(const char*, const stateid4&) { ++stateids; }
  void operator()(const char*, const Payload&, std::size_t) { ++payloads; }
  template <class T>
  void operator()(const char*, const T& value) {
    if constexpr (requires { T::fields(value, *this); }) T::fields(value, *this);
  }
  void operator()(const char*, const auto&, std::size_t) {}
  void list(const char*, const auto&) {}
  void choose(const char*, const auto&, auto... arms) { (arms.visit(*this), ...); }
};

template <class T>
Count count_of() {
  Count count;
  count("", T{});
  return count;
}

/// Calls f(Args{}, Res{}) for every operation that the client sends.
void for_each_sent(auto&& f) {
  Operations::for_each([&]<class Op>(Op) {
    if constexpr (requires { OperationRow<typename Op::Args>::facts; }) {
      f(typename Op::Args{}, typename Op::Res{});
    }
  });
}

// V1-4.3.3-1: whether a Reply chunk is needed is decided by the largest result.
TEST(OperationRows, BoundsAreThoseOfTheLargestResult) {
  int rows = 0;
  for_each_sent([&]<class Args, class Res>(const Args& args, const Res&) {
    ++rows;
    if (std::find(kEstimated.begin(), kEstimated.end(), Args::opnum) != kEstimated.end()) return;
    std::size_t largest = max_encoded_size<Res>() - xdr::kUnit;  // without the status
    if (Args::opnum == OP_READLINK) largest += result_size::kLinkText;
    EXPECT_EQ(OperationRow<Args>::max_result(args), largest) << operation_name(Args::opnum);
  });
  EXPECT_EQ(rows, 37);
}

TEST(OperationRows, BoundsFollowTheArguments) {
  READDIR4args page;
  page.maxcount = 5000;
  EXPECT_EQ(OperationRow<READDIR4args>::max_result(page), 5000U);
  EXPECT_EQ(OperationRow<GETATTR4args>::max_result({{FATTR4_CHANGE}}),
            max_encoded_size<GETATTR4resok>(sizeof(std::uint64_t)));
  TEST_STATEID4args three;
  three.ts_stateids.resize(3);
  EXPECT_EQ(OperationRow<TEST_STATEID4args>::max_result(three), 4 * xdr::kUnit);
}

TEST(OperationRows, PayloadsAreThoseOfTheResult) {
  for_each_sent([]<class Args, class Res>(const Args&, const Res&) {
    EXPECT_EQ(OperationRow<Args>::facts.payloads, count_of<Res>().payloads)
        << operation_name(Args::opnum);
    EXPECT_EQ(operation_facts(Args::opnum).payloads, OperationRow<Args>::facts.payloads);
  });
}

TEST(OperationRows, StatesAreThoseOfTheArguments) {
  for_each_sent([]<class Args, class Res>(const Args&, const Res&) {
    // Of the arms of a union one is sent.
    const std::uint32_t named = std::min(count_of<Args>().stateids, 1U);
    EXPECT_EQ(OperationRow<Args>::facts.states, named) << operation_name(Args::opnum);
  });
}

}  // namespace
}  // namespace nfsrdma::nfs4
