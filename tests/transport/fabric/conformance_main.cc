// The choice of what is tested:
//   fabric_conformance_test [--provider=iwarp|verbs] [--address=A] [--device=NAME]
//                           [--rdma-reg=auto|mw|static] [GoogleTest's options]
// Without options: iwarp on loopback. verbs needs the address of an RDMA device of this machine.
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "tests/responder/fabric/verbs_fabric.h"
#include "tests/transport/fabric/fabric_fixture.h"

namespace nfsrdma::fabric::testing {
namespace {

struct Choice {
  std::string provider = "iwarp";
  std::string address;
  VerbsOptions verbs;
} choice;

RegistrationChoice registration_of(std::string_view text) {
  if (text == "mw") return RegistrationChoice::windows;
  if (text == "static") return RegistrationChoice::static_keys;
  return RegistrationChoice::automatic;
}

void read_argument(std::string_view argument) {
  const auto value_of = [&](std::string_view name) -> std::optional<std::string> {
    if (!argument.starts_with(name)) return std::nullopt;
    return std::string(argument.substr(name.size()));
  };
  if (auto value = value_of("--provider=")) choice.provider = *value;
  if (auto value = value_of("--address=")) choice.address = *value;
  if (auto value = value_of("--device=")) choice.verbs.device = *value;
  if (auto value = value_of("--rdma-reg=")) choice.verbs.registration = registration_of(*value);
}

}  // namespace

std::vector<Provider> chosen_providers() {
  if (choice.provider == "verbs") {
    const auto make = [](Reactor& reactor) {
      return make_listening_verbs_fabric(reactor, choice.verbs);
    };
    return {{"verbs", make, choice.address, false}};
  }
  if (!choice.address.empty()) return {{"iwarp", make_listening_iwarp_fabric, choice.address}};
  return {{"iwarp4", make_listening_iwarp_fabric, "127.0.0.1"},
          {"iwarp6", make_listening_iwarp_fabric, "::1"}};
}

bool read_arguments(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) read_argument(argv[i]);
  if (choice.provider != "verbs") return choice.provider == "iwarp";
  use_registered_memory();
  return !choice.address.empty();
}

}  // namespace nfsrdma::fabric::testing

int main(int argc, char** argv) {
  if (!nfsrdma::fabric::testing::read_arguments(argc, argv)) {
    std::fputs("--provider must be iwarp or verbs, and verbs needs --address\n", stderr);
    return EXIT_FAILURE;
  }
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
