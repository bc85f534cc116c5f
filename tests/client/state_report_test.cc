// What an administrator sees of the state at the server, and can do about it.
#include "client/state/state_report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "client/files/lock.h"
#include "tests/client/delegations.h"

namespace nfsrdma::client::test {
namespace {

class StateReport : public Delegations {
 protected:
  std::vector<std::string> lines() {
    std::vector<std::string> all;
    mount().report_state([&](std::string_view line) { all.emplace_back(line); });
    return all;
  }
  bool told(const std::string& line) {
    const auto all = lines();
    return std::ranges::find(all, line) != all.end();
  }
};

TEST_F(StateReport, NamesOpensLocksAndDelegations) {
  EXPECT_TRUE(lines().empty());
  Opened file = open_delegated("file", kBoth);
  const std::string inode = "inode " + std::to_string(file.open->fileid());
  const WantedLock wanted{
      .owner = {LockKind::posix, 1}, .pid = 34, .range = {5, 9}, .exclusive = true};
  ASSERT_TRUE(run(client::lock(mount(), file.open.file(), wanted)));
  EXPECT_TRUE(told("open " + inode + " by user " + std::to_string(caller().uid) +
                   ": read and write, 1 times, under a delegation"))
      << lines().at(0);
  EXPECT_TRUE(told("lock " + inode + " by process 34: exclusive, bytes 5 to 9, known here only"))
      << lines().at(1);
  EXPECT_TRUE(told("delegation " + inode + ": write, in use")) << lines().at(2);
  close_at(mount(), std::move(file.open));
  EXPECT_TRUE(told("delegation " + inode + ": write, not in use"));
}

TEST_F(StateReport, BeyondManyOnlyTheirNumber) {
  constexpr std::size_t kMore = 3;
  OpenTable opens(reactor_);
  std::vector<OpenFileRef> held;
  for (std::size_t i = 0; i < kReportedStates + kMore; ++i) {
    FileHandle handle = root();
    Credential caller;
    caller.uid = static_cast<std::uint32_t>(i);
    held.push_back(opens.obtain(caller, handle));
  }
  std::vector<std::string> all;
  report_state(opens, {}, [&](std::string_view line) { all.emplace_back(line); });
  ASSERT_EQ(all.size(), kReportedStates + 1);
  EXPECT_EQ(all.back(), "more opens: 3");
}

TEST_F(StateReport, DelegationsAreGivenBackWhenAskedFor) {
  Opened file = open_delegated("file", kRead);
  EXPECT_EQ(mount().delegations().start_returns(), 1U);
  reactor_.settle();
  EXPECT_FALSE(mount().delegations().any());
  EXPECT_EQ(read_text(file).value(), kContent) << "the open goes on";
  EXPECT_EQ(mount().delegations().start_returns(), 0U);
  close_at(mount(), std::move(file.open));
}

TEST_F(StateReport, AConnectionIsMadeAnewWhenAskedFor) {
  Opened file = open_file("file", kRead);
  mount().reconnect();
  EXPECT_EQ(read_text(file).value(), kContent);
  EXPECT_EQ(counter("reconnects"), 1U);
  close_at(mount(), std::move(file.open));
}

}  // namespace
}  // namespace nfsrdma::client::test
