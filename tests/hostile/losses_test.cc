// Each request of the kernel while the connection ends, sessions go or the server reboots: at each
// NFS operation that the request needs, once, three times, and for ever.
#include <gtest/gtest.h>

#include <cstdio>
#include <string_view>

#include "tests/hostile/attack.h"

namespace nfsrdma::hostile {
namespace {

using namespace nfs4;

struct Loss {
  const char* name;
  void (*strike)(HostileMount& mount);
  bool forgets_locks = false;  ///< there is no grace period to reclaim them in
};

/// The operation was executed, and its reply is lost.
void connection(HostileMount& mount) { mount.responder().disconnect_all("hostile"); }
/// Behind the reply: the service is at work.
void sessions(HostileMount& mount) {
  mount.reactor().post([&mount] { mount.honest().destroy_sessions(); });
}
void reboot(HostileMount& mount) {
  mount.reactor().post([&mount] { mount.honest().restart(0); });
}
void reboot_and_connection(HostileMount& mount) {
  reboot(mount);
  connection(mount);
}

constexpr Loss kLosses[] = {
    {"the connection", connection},
    {"the sessions", sessions},
    {"a reboot", reboot, true},
    {"a reboot and the connection", reboot_and_connection, true},
};

class Losses : public ::testing::TestWithParam<KernelOperation> {};

TEST_P(Losses, AtEachOperation) {
  Attacker attacker({.over = kTransport});
  const bool of_locks = std::string_view(GetParam().name).find("etlk") != std::string_view::npos;
  for (const std::uint32_t number : attacker.needs(GetParam())) {
    const auto opnum = static_cast<nfs_opnum4>(number);
    for (const Loss& loss : kLosses) {
      attacker.expect_deception(of_locks && loss.forgets_locks);
      for (const std::uint64_t times : {std::uint64_t{1}, std::uint64_t{3}, kForEver}) {
        const std::string name = std::string(loss.name) + " at " +
                                 std::string(operation_name(opnum)) + ", " +
                                 (times == kForEver ? "for ever" : std::to_string(times));
        attacker.attack_in_turn(GetParam(), name, [&](HostileService& server) {
          server.add({.opnum = opnum, .times = times, .spoil = [&](SpoiledReply&) {
                        loss.strike(attacker.mount());
                      }});
        });
        ASSERT_LE(attacker.failures(), Attacker::kMostFailures);
      }
    }
  }
  std::printf("%d attacks: %d succeeded, %d failed, %d killed\n", attacker.attacks(),
              attacker.succeeded, attacker.failed, attacker.killed);
}

INSTANTIATE_TEST_SUITE_P(Of, Losses, ::testing::ValuesIn(kernel_operations()),
                         [](const auto& operation) { return operation.param.name; });

}  // namespace
}  // namespace nfsrdma::hostile
