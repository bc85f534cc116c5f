// Each kind of fault that the responder's script can name, and those of the fabric on the client's
// side: it happens, and the mount is what it was.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <random>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "tests/hostile/attack.h"
#include "tests/hostile/chunk_requests.h"
#include "tests/responder/transport/fabric_kinds.h"
#include "tests/responder/transport/fault_script.h"

namespace nfsrdma::hostile {
namespace {

const bool kIwarp = kTransport == Over::iwarp;

/// A rule, and a request of the kernel that meets it.
struct Row {
  const char* rule;
  const char* request;
  /// Whether no client can see that the server does wrong: other data, other times, other sizes.
  bool deceives = false;
  bool needs_rdma = false;
  bool behind_a_loss = false;  ///< the connection is broken first
};

constexpr bool kDeceives = true;
constexpr bool kRdma = true;

constexpr Row kRows[] = {
    // of calls
    {"delay=50:op=READ", "ReadLarge"},
    {"delay-reply=50:op=READ", "ReadLarge"},
    {"drop-reply:op=READ:times=1", "ReadLarge"},
    {"duplicate-reply:op=READ", "ReadLarge"},
    {"disconnect=before:op=READ:times=1", "ReadLarge"},
    {"disconnect=after:op=WRITE:times=1", "WriteMiddle"},
    {"credits=64,1,64,0xffffffff", "ReadLarge", false, kRdma},
    {"credits=1,2", "WriteMiddle", false, kRdma},
    {"zero-grant", "ReadLarge", false, kRdma},
    {"reorder=1:op=READ:every=2", "ReadLarge"},
    {"nfsstat=NFS4ERR_DELAY:op=READ:times=1", "ReadLarge"},
    {"nfsstat=NFS4ERR_STALE:op=READ:times=1", "ReadLarge"},
    {"nfsstat=NFS4ERR_BADSESSION:op=SEQUENCE:times=1", "ReadLarge"},
    {"rpc-error=system_err:op=READ:times=1", "ReadLarge"},
    {"rdma-error=chunk:op=READ:times=1", "ReadLarge", false, kRdma},
    {"malformed=oversize:op=READ:times=1", "ReadLarge"},
    {"replay-cache=off", "WriteMiddle"},
    {"replay-cache=garbage", "WriteMiddle"},
    {"unstable=lost:op=WRITE", "WriteMiddle"},
    // of results
    {"result=short:1000", "ReadLarge"},
    {"result=short:1000", "WriteMiddle"},
    {"flags=CB_PATH_DOWN,BACKCHANNEL_FAULT:every=2", "ReadLarge"},
    {"flags=0x8", "ReadLarge"},
    {"slots=highest:63,target:0", "ReadLarge"},
    {"slots=target:0xffffffff", "ReadLarge"},
    {"clock=+86400:op=GETATTR", "Lookup", kDeceives},
    {"clock=-86400", "Readdirplus", kDeceives},
    {"lie=another-verifier-each-time", "ReaddirLarge", kDeceives},
    {"lie=each-cookie-the-same,-no-end", "ReaddirLarge", kDeceives},
    {"lie=another-fileid-each-time", "Lookup", kDeceives},
    {"lie=READ-of-20000-bytes", "ReadSmall", kDeceives},
    {"lie=COMMIT-has-another-verifier-each-time:times=1", "FsyncLarge"},
    // of RDMA Writes
    {"write=drop", "ReadLarge", false, kRdma},
    {"write=drop:times=1", "ReaddirLarge", false, kRdma},
    {"write=cut:100", "ReadLarge", false, kRdma},
    {"write=corrupt:100", "ReadLarge", kDeceives, kRdma},
    {"write=late:times=1", "ReadLarge", false, kRdma},
    {"write=twice", "ReadLarge", false, kRdma},
    {"write=stag:+1:times=1", "ReadLarge", false, kRdma},
    {"write=to:-4:times=1", "ReadLarge", false, kRdma},
    {"write=to:+1:times=1", "ReadLarge", false, kRdma},
    // of RDMA Reads
    {"read=stag:+1:times=1", "WriteMiddle", false, kRdma},
    {"read=to:+4:times=1", "WriteMiddle", false, kRdma},
    {"read=cut:100:times=1", "WriteMiddle", kDeceives, kRdma},
    {"disconnect=after-read:times=1", "WriteMiddle", false, kRdma},
    // of Sends
    {"send=drop:op=READ:times=1", "ReadLarge", false, kRdma},
    {"invalidate=none", "ReadLarge", false, kRdma},
    {"invalidate=wrong:times=1", "ReadLarge", false, kRdma},
    {"invalidate=other-call:op=READ:times=1", "ReadLarge", false, kRdma},
    {"invalidate=unasked:times=3", "ReadLarge", false, kRdma},
    {"send-done=200", "ReadLarge", false, kRdma},
    {"send-done=200:op=READ", "ReadLarge", false, kRdma},
    {"disconnect=before-send:op=READ:times=1", "ReadLarge", false, kRdma},
    {"disconnect=after-send:op=READ:times=1", "ReadLarge", false, kRdma},
    {"disconnect=mid-write:5000:op=READ:times=1", "ReadLarge", false, kRdma},
    // of Receives, resources and the device
    {"receives=none:50:times=8", "ReadLarge", false, kRdma},
    {"receives=hold:times=8", "ReadLarge", false, kRdma},
    {"resources=receive:times=1", "ReadLarge", false, kRdma},
    {"resources=write:times=1", "ReadLarge", false, kRdma},
    {"resources=read:times=1", "WriteMiddle", false, kRdma},
    {"resources=send:op=READ:times=1", "ReadLarge", false, kRdma},
    {"device=removed:op=READ:times=1", "ReadLarge", false, kRdma},
    {"device=queue-error:op=READ:times=1", "ReadLarge", false, kRdma},
    {"device=port-down:op=READ:times=1", "ReadLarge", false, kRdma},
};

/// Of connections: they are broken first.
constexpr Row kOfConnections[] = {
    {"connect=reject:times=1", "ReadLarge", false, kRdma},
    {"connect=silent:times=1", "ReadLarge", false, kRdma},
    {"disconnect=accept:times=3", "ReadLarge", false, kRdma},
    {"private-data=absent", "ReadLarge", false, kRdma},
    {"private-data=send:1024,recv:65536", "ReadLarge", false, kRdma},
    {"private-data=send:262144,recv:262144:times=1", "WriteMiddle", false, kRdma},
    {"private-data=0badcafe", "ReadLarge", false, kRdma},
};

/// Of the wire.
constexpr Row kOfTheWire[] = {
    {"wire=badcrc:after=3:times=1", "ReadLarge", false, kRdma},
    {"wire=split:700", "ReadLarge"},
    {"wire=split:1:times=30", "ReadSmall"},
    {"wire=terminate:0x1101:times=1", "ReadLarge", false, kRdma},
    {"wire=terminate:0x0202:times=1", "WriteMiddle", false, kRdma},
    {"wire=silence:times=1", "ReadLarge"},
    {"wire=reset:after=1:times=1", "ReadLarge"},
    {"wire=finish:times=2", "WriteMiddle"},
    {"wire=revision:1:times=1", "ReadLarge", false, kRdma, true},
    {"wire=revision:7:times=2", "ReadLarge", false, kRdma, true},
    {"wire=markers:times=1", "ReadLarge", false, kRdma, true},
    {"wire=refuse:times=1", "ReadLarge", false, kRdma, true},
};

/// On the client's side.
constexpr Row kOfTheClient[] = {
    {"send-done=100", "ReadLarge"},
    {"send-done=100", "WriteMiddle"},
    {"send-done=30000:times=4", "ReadLarge"},
    {"receives=none:50:times=4", "ReadLarge"},
    {"receives=hold:times=4", "ReadLarge"},
    {"resources=receive:times=1", "ReadLarge"},
    {"resources=prepare:times=1", "ReadLarge"},
    {"resources=prepare:times=1", "WriteMiddle"},
    {"resources=send:times=1", "ReadLarge"},
    {"resources=connect:times=2", "ReadLarge", false, false, true},
    {"send=drop:times=1", "ReadLarge"},
    {"device=removed:times=1", "ReadLarge"},
    {"device=queue-error:times=2", "WriteMiddle"},
    {"device=port-down:times=1", "ReadLarge"},
    {"disconnect=before-send:times=1", "WriteMiddle"},
    {"disconnect=after-send:times=1", "WriteMiddle"},
};

KernelOperation request(std::string_view name) {
  const auto requests = chunk_requests();
  const auto found = std::ranges::find(requests, name, &KernelOperation::name);
  if (found == requests.end()) {
    ADD_FAILURE() << name;
    std::abort();
  }
  return *found;
}

std::string name_of(const Row& row) {
  std::string name = std::string(row.rule) + "_" + row.request;
  for (char& letter : name) {
    if (!std::isalnum(static_cast<unsigned char>(letter))) letter = '_';
  }
  return name;
}
void PrintTo(const Row& row, std::ostream* out) { *out << row.rule << " " << row.request; }

/// Those that have a meaning over this transport.
std::vector<Row> meant(std::span<const Row> rows) {
  std::vector<Row> chosen(rows.begin(), rows.end());
  if (!kIwarp) std::erase_if(chosen, [](const Row& row) { return row.needs_rdma; });
  return chosen;
}
std::vector<Row> over_iwarp_only(std::span<const Row> rows) {
  return kIwarp ? meant(rows) : std::vector<Row>{};
}

class Script : public ::testing::TestWithParam<Row> {};

void add(HostileMount& mount, const char* rule) {
  const auto added = mount.responder().add_fault(rule);
  ASSERT_TRUE(added) << added.error().message();
}

TEST_P(Script, OfTheServer) {
  const Row& row = GetParam();
  Attacker attacker({.over = kTransport});
  attacker.expect_deception(row.deceives);
  attacker.attack(request(row.request), row.rule,
                  [&](HostileService&) { add(attacker.mount(), row.rule); });
  EXPECT_GT(attacker.mount().faults_met(), 0U) << "nothing met the rule";
}

INSTANTIATE_TEST_SUITE_P(Rules, Script, ::testing::ValuesIn(meant(kRows)),
                         [](const auto& row) { return name_of(row.param); });

class ScriptOfConnections : public Script {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ScriptOfConnections);

TEST_P(ScriptOfConnections, OfTheServer) {
  const Row& row = GetParam();
  Attacker attacker({.over = kTransport});
  attacker.attack(request(row.request), row.rule, [&](HostileService&) {
    add(attacker.mount(), row.rule);
    attacker.mount().responder().disconnect_all("test");
  });
  EXPECT_GT(attacker.mount().faults_met(), 0U) << "nothing met the rule";
}

INSTANTIATE_TEST_SUITE_P(Rules, ScriptOfConnections,
                         ::testing::ValuesIn(over_iwarp_only(kOfConnections)),
                         [](const auto& row) { return name_of(row.param); });

class ScriptOfTheWire : public Script {};

TEST_P(ScriptOfTheWire, OfTheServer) {
  const Row& row = GetParam();
  Attacker attacker({.over = kTransport, .wire_faults = true});
  attacker.attack(request(row.request), row.rule, [&](HostileService&) {
    add(attacker.mount(), row.rule);
    if (row.behind_a_loss) attacker.mount().responder().disconnect_all("test");
  });
  EXPECT_GT(attacker.mount().faults_met(), 0U) << "nothing met the rule";
}

INSTANTIATE_TEST_SUITE_P(Rules, ScriptOfTheWire, ::testing::ValuesIn(meant(kOfTheWire)),
                         [](const auto& row) { return name_of(row.param); });

class ScriptOfTheClient : public Script {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ScriptOfTheClient);

/// Without a middleman: the client's script goes when nothing is to go wrong any more.
class ClientScript final : public Middleman {
 public:
  ClientScript(responder::FaultScript& script, std::uint64_t& fired, const net::Address& server)
      : script_(script), fired_(fired), server_(server) {}
  net::Address address() const override { return server_; }
  void lift() override {
    for (const auto& rule : script_.rules()) fired_ += rule.fired;
    script_.clear();
  }
  std::string harm(std::span<const std::span<std::byte>>) override { return {}; }

 private:
  responder::FaultScript& script_;
  std::uint64_t& fired_;
  net::Address server_;
};

HostileOptions with(responder::FaultScript& script, std::uint64_t& fired) {
  return {.over = kTransport,
          .between =
              [&](Reactor&, const net::Address& server) {
                return std::make_unique<ClientScript>(script, fired, server);
              },
          .client_script = &script};
}

TEST_P(ScriptOfTheClient, OfTheClient) {
  const Row& row = GetParam();
  responder::FaultScript script;
  std::uint64_t fired = 0;
  Attacker attacker(with(script, fired));
  attacker.attack(request(row.request), row.rule, [&](HostileService&) {
    ASSERT_TRUE(script.add(row.rule));
    if (row.behind_a_loss) attacker.mount().responder().disconnect_all("test");
  });
  EXPECT_GT(fired, 0U) << "nothing met the rule";
}

INSTANTIATE_TEST_SUITE_P(Rules, ScriptOfTheClient,
                         ::testing::ValuesIn(over_iwarp_only(kOfTheClient)),
                         [](const auto& row) { return name_of(row.param); });

/// The rule without an end.
std::string for_ever(std::string_view rule) {
  const auto times = rule.find(":times=");
  return std::string(rule.substr(0, times));
}

/// Each request with each rule, as it is and for ever; whether it meets it or not.
class ScriptOfAll : public ::testing::TestWithParam<KernelOperation> {
 protected:
  static void attack(Attacker& attacker, const Row& row,
                     const std::function<void(const std::string& rule)>& arm) {
    attacker.expect_deception(row.deceives);
    for (const std::string& rule : {std::string(row.rule), for_ever(row.rule)}) {
      attacker.attack_in_turn(GetParam(), rule, [&](HostileService&) { arm(rule); });
    }
  }
};

TEST_P(ScriptOfAll, OfTheServer) {
  Attacker attacker({.over = kTransport});
  for (const Row& row : meant(kRows)) {
    attack(attacker, row, [&](const std::string& rule) { add(attacker.mount(), rule.c_str()); });
    ASSERT_LE(attacker.failures(), Attacker::kMostFailures);
  }
}

class ScriptOfAllOverIwarp : public ScriptOfAll {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ScriptOfAllOverIwarp);

TEST_P(ScriptOfAllOverIwarp, OfConnections) {
  Attacker attacker({.over = kTransport});
  for (const Row& row : kOfConnections) {
    attack(attacker, row, [&](const std::string& rule) {
      add(attacker.mount(), rule.c_str());
      attacker.mount().responder().disconnect_all("test");
    });
    ASSERT_LE(attacker.failures(), Attacker::kMostFailures);
  }
}

TEST_P(ScriptOfAllOverIwarp, OfTheClient) {
  responder::FaultScript script;
  std::uint64_t fired = 0;
  Attacker attacker(with(script, fired));
  for (const Row& row : kOfTheClient) {
    attack(attacker, row, [&](const std::string& rule) { ASSERT_TRUE(script.add(rule)); });
    ASSERT_LE(attacker.failures(), Attacker::kMostFailures);
  }
}

/// Three rules at once, by seeds.
TEST_P(ScriptOfAll, ByChance) {
  constexpr unsigned kSeeds = 60;
  constexpr int kRules = 3;
  const std::vector<Row> rows = meant(kRows);
  Attacker attacker({.over = kTransport});
  for (unsigned seed = 1; seed <= kSeeds; ++seed) {
    std::mt19937 chance(seed);
    std::vector<std::string> rules;
    bool deceives = false;
    while (rules.size() < kRules) {
      const Row& row = rows[chance() % rows.size()];
      deceives |= row.deceives;
      rules.push_back(for_ever(row.rule) + ":every=" + std::to_string(2 + chance() % 5));
    }
    attacker.expect_deception(deceives);
    attacker.attack_in_turn(GetParam(), "seed " + std::to_string(seed), [&](HostileService&) {
      for (const std::string& rule : rules) add(attacker.mount(), rule.c_str());
    });
    ASSERT_LE(attacker.failures(), Attacker::kMostFailures);
  }
}

INSTANTIATE_TEST_SUITE_P(Of, ScriptOfAll, ::testing::ValuesIn(chunk_requests()),
                         [](const auto& operation) { return operation.param.name; });
INSTANTIATE_TEST_SUITE_P(Of, ScriptOfAllOverIwarp,
                         ::testing::ValuesIn(kIwarp ? chunk_requests()
                                                    : std::vector<KernelOperation>{}),
                         [](const auto& operation) { return operation.param.name; });

/// The head of a rule: "write=cut" of "write=cut:100:times=1".
std::string head_of(std::string_view rule) {
  const auto value = rule.find('=');
  const auto end = rule.find_first_of(":,", value == std::string_view::npos ? 0 : value);
  return std::string(rule.substr(0, end));
}

TEST(ScriptRows, EachKindOfTheFabricHasOne) {
  std::set<std::string> rows;
  for (const Row& row : kRows) rows.insert(head_of(row.rule));
  for (const Row& row : kOfConnections) rows.insert(head_of(row.rule));
  for (const Row& row : kOfTheWire) rows.insert(head_of(row.rule));
  for (const Row& row : kOfTheClient) rows.insert(head_of(row.rule));
  for (const auto& kind : responder::fabric_kinds()) {
    const std::string head = head_of(kind);
    const bool given = head.starts_with("send-done=") || head == "private-data=HEX";
    EXPECT_TRUE(given || rows.contains(head)) << kind;
  }
}

}  // namespace
}  // namespace nfsrdma::hostile
