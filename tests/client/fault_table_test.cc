// Each fault with each class of operation: the operation succeeds, its effect is there once, what
// was open goes on, RECLAIM_COMPLETE was sent once for each client id, and all of it took no longer
// than two lease times. One test for each cell.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <tuple>
#include <vector>

#include "client/requests/errno.h"
#include "tests/client/fault_table.h"

namespace nfsrdma::client::test {

using namespace nfs4;

/// What was open goes on, and recovery has ended in time.
void FaultTable::check_the_rest(TimePoint begun) {
  auto text = read_text(*kept_);
  ASSERT_TRUE(text) << text.error().message();
  EXPECT_EQ(*text, server_.read_file("file"));
  auto written = write_text(*kept_, 0, "C");
  ASSERT_TRUE(written) << written.error().message();
  EXPECT_LE(reactor_.now() - std::max(begun, outage_ended_), 2 * kLease);
  EXPECT_EQ(counter("recovery_states_pending"), 0U);
  EXPECT_EQ(server_.successes_of(OP_RECLAIM_COMPLETE),
            static_cast<int>(counter("recovery_client_ids")));
}

void FaultTable::check_cell() {
  const auto& [operation, fault] = GetParam();
  const TimePoint begun = reactor_.now();
  fault.arm(*this);
  auto ended = run(operation.run(this));
  if (operation.kind == Kind::lock_use && fault.forgets_locks) {
    ASSERT_FALSE(ended) << "a lock that was lost must not go unnoticed";
    EXPECT_EQ(to_errno(ended.error()), EIO);
    EXPECT_FALSE(locked_file()->lost()) << "the open stays";
    EXPECT_EQ(counter("opens_lost"), 0U);
    EXPECT_EQ(counter("locks_lost"), 1U);
    return check_the_rest(begun);
  }
  EXPECT_EQ(counter("opens_lost"), 0U);
  ASSERT_TRUE(ended) << ended.error().message();
  EXPECT_TRUE(operation.done(*this)) << "the effect";
  const int executed = server_.successes_of(operation.opnum) - before_;
  const bool repeatable = operation.kind != Kind::once && fault.forgets_replies;
  if (operation.kind != Kind::query && !repeatable) {
    EXPECT_EQ(executed, 1);
  }
  check_the_rest(begun);
}

TEST_P(FaultTable, Cell) { check_cell(); }

/// The same, while every file that is open is delegated.
class DelegatedFaultTable : public FaultTable {
 protected:
  DelegatedFaultTable() : FaultTable(responder::DelegationKind::write) {}
};

TEST_P(DelegatedFaultTable, Cell) {
  ASSERT_EQ(counter("delegations"), 3U);
  check_cell();
}

namespace {

/// A delegated file is not closed at the server, nor locked before the delegation is returned.
std::vector<Operation> operations_under_delegations() {
  constexpr nfs_opnum4 kNotSent[] = {OP_CLOSE, OP_LOCK, OP_LOCKU, OP_LOCKT};
  std::vector<Operation> operations;
  std::ranges::copy_if(operations_of_table(), std::back_inserter(operations),
                       [&](const Operation& operation) {
                         return std::ranges::find(kNotSent, operation.opnum) == std::end(kNotSent);
                       });
  std::ranges::copy(operations_of_delegations(), std::back_inserter(operations));
  return operations;
}

std::string cell_name(const ::testing::TestParamInfo<std::tuple<Operation, Fault>>& info) {
  return std::string(std::get<0>(info.param).name) + std::get<1>(info.param).name;
}

INSTANTIATE_TEST_SUITE_P(Of, FaultTable,
                         ::testing::Combine(::testing::ValuesIn(operations_of_table()),
                                            ::testing::ValuesIn(faults_of_table())),
                         cell_name);

INSTANTIATE_TEST_SUITE_P(Of, DelegatedFaultTable,
                         ::testing::Combine(::testing::ValuesIn(operations_under_delegations()),
                                            ::testing::ValuesIn(faults_of_table())),
                         cell_name);

}  // namespace

}  // namespace nfsrdma::client::test
