// Each request of the kernel, with each NFS error for each NFS operation that it needs, once and
// for as long as it waits.
#include <gtest/gtest.h>

#include <cstdio>
#include <tuple>
#include <vector>

#include "client/proto/status.h"
#include "tests/hostile/attack.h"

namespace nfsrdma::hostile {
namespace {

using namespace nfs4;

/// What RFC 8881 does not define.
constexpr auto kUndefined = nfsstat4{12345};

std::vector<nfsstat4> failures() {
  std::vector<nfsstat4> all;
  for (const nfsstat4 status : all_statuses()) {
    if (status != NFS4_OK) all.push_back(status);
  }
  all.push_back(kUndefined);
  return all;
}

class NfsErrors : public ::testing::TestWithParam<std::tuple<KernelOperation, Over>> {};

TEST_P(NfsErrors, OnceAndForEver) {
  const auto& [operation, over] = GetParam();
  Attacker attacker({.over = over});
  for (const std::uint32_t opnum : attacker.needs(operation)) {
    for (const nfsstat4 status : failures()) {
      for (const std::uint64_t times : {std::uint64_t{1}, kForEver}) {
        const auto target = static_cast<nfs_opnum4>(opnum);
        const std::string name = std::string(operation_name(target)) + " answered " +
                                 std::to_string(status) + " " + std::string(status_name(status)) +
                                 (times == 1 ? " once" : " for ever");
        attacker.attack_in_turn(operation, name, [&](HostileService& server) {
          server.add({.opnum = target, .times = times, .status = status});
        });
        ASSERT_LE(attacker.failures(), Attacker::kMostFailures);
      }
    }
  }
  std::printf("%d attacks: %d succeeded, %d failed, %d killed\n", attacker.attacks(),
              attacker.succeeded, attacker.failed, attacker.killed);
}

std::string cell_name(const ::testing::TestParamInfo<std::tuple<KernelOperation, Over>>& info) {
  return std::string(std::get<0>(info.param).name) + name_of(std::get<1>(info.param));
}

INSTANTIATE_TEST_SUITE_P(Of, NfsErrors,
                         ::testing::Combine(::testing::ValuesIn(kernel_operations()),
                                            ::testing::Values(kTransport)),
                         cell_name);

}  // namespace
}  // namespace nfsrdma::hostile
