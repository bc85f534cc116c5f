#include "tests/hostile/attack.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace nfsrdma::hostile {
namespace {

constexpr const char* kProbe = "known";
/// How long a rule goes on to hold when the answer is there: for what is done behind it.
constexpr Duration kAftermath = std::chrono::seconds(2);
/// Far above what any attack needs (a hundred), far below what a loop makes.
constexpr std::uint64_t kMostTurns = 20000;
constexpr std::uint64_t kMostCalls = 2000;
/// The kernel believes for ever that an operation with this answer does not exist.
bool understood(int error) {
  constexpr int kLastError = 133;
  return error > 0 && error <= kLastError && error != ENOSYS && error != EINTR;
}

/// Sanitizers make an attack ten times as long: there one of so many stands for all.
bool is_in_turn() {
  static const int stride = [] {
    const char* text = std::getenv("NFSRDMA_HOSTILE_STRIDE");
    return std::max(text ? std::atoi(text) : 1, 1);
  }();
  static int asked = 0;
  return asked++ % stride == 0;
}

}  // namespace

Attacker::Attacker(HostileOptions options)
    : mount_(std::make_unique<HostileMount>(std::move(options))) {
  auto started = mount_->start();
  EXPECT_TRUE(started) << started.error().message();
  if (!started) std::abort();
  mount_->write_file(kProbe, content());
  probe();
  mount_->become_idle();
  return_delegations();
  mount_->reactor().advance(std::chrono::seconds(1));
  footprint_ = mount_->footprint();
}

Attacker::~Attacker() { mount_->stop(); }

void Attacker::blame(const std::string& what) {
  ++failures_;
  ADD_FAILURE() << name_ << ": " << what;
}

void Attacker::attack(const KernelOperation& operation, const std::string& name,
                      const std::function<void(HostileService&)>& arm) {
  ++attacks_;
  name_ = std::string(operation.name) + ", " + name;
  const ::testing::ScopedTrace trace(__FILE__, __LINE__, name_);
  Stage stage(*mount_);
  if (holds_) held_ = stage.hold();
  operation.prepare(stage);
  const std::uint64_t turns = mount_->reactor().turns();
  const std::uint64_t calls = mount_->server().calls();
  arm(mount_->server());
  const Ended ended = mount_->end(operation.begin(stage));
  mount_->reactor().run_until([&] { return mount_->kernel().in_flight().running() == 0; },
                              kAftermath);
  // Before the memory is used again.
  const std::string harm = mount_->harm();
  if (!harm.empty()) blame(harm + " (7)");
  mount_->lift();
  check_work(mount_->reactor().turns() - turns, mount_->server().calls() - calls);
  judge(operation, stage, ended);
  if (!stage.clean_up()) blame("an operation runs on (1)");
  probe();
  if (!mount_->become_idle()) blame("an operation runs on (1)");
  check_growth();
}

bool Attacker::attack_in_turn(const KernelOperation& operation, const std::string& name,
                              const std::function<void(HostileService&)>& arm) {
  if (!is_in_turn()) return false;
  attack(operation, name, arm);
  return true;
}

std::set<std::uint32_t> Attacker::needs(const KernelOperation& operation) {
  std::set<std::uint32_t> needed;
  attack(operation, "nothing wrong", [&](HostileService& server) { server.seen.clear(); });
  Stage stage(*mount_);
  operation.prepare(stage);
  mount_->server().seen.clear();
  const Ended ended = mount_->end(operation.begin(stage));
  mount_->become_idle();
  needed = mount_->server().seen;
  judge(operation, stage, ended);
  if (!ended.answered || ended.answer.error != 0) blame("an honest server's answer is an error");
  stage.clean_up();
  return needed;
}

void Attacker::judge(const KernelOperation& operation, Stage& stage, const Ended& ended) {
  if (!ended.answered) {
    ++killed;
    if (!ended.released) blame("the caller cannot be killed (1)");
    return;
  }
  if (ended.answer.error != 0) {
    ++failed;
    if (!understood(ended.answer.error)) {
      blame(std::string("an error that no program understands: ") +
            std::strerror(ended.answer.error) + " (3)");
    }
    return;
  }
  ++succeeded;
  const std::string lie = operation.lie(stage, ended.answer);
  if (!lie.empty() && !deceives_) blame("no error, but: " + lie + " (2)");
}

void Attacker::probe() {
  const Answer found = mount_->ask(FUSE_LOOKUP, FUSE_ROOT_ID, std::string(kProbe));
  if (found.error != 0) return blame("a file is not found any more (4)");
  const std::uint64_t node = found.as<fuse_entry_out>().nodeid;
  const Answer opened = mount_->ask(FUSE_OPEN, node, fuse_open_in{O_RDONLY, 0});
  if (opened.error != 0) {
    blame("a file cannot be opened any more (4)");
  } else {
    fuse_read_in in{};
    in.fh = opened.as<fuse_open_out>().fh;
    in.size = static_cast<std::uint32_t>(2 * content().size());
    const Answer read = mount_->ask(FUSE_READ, node, in);
    if (read.error != 0 || read.text() != content()) blame("wrong data afterwards (4)");
    mount_->ask(FUSE_RELEASE, node, fuse_release_in{.fh = in.fh});
    mount_->become_idle();
  }
  mount_->begin(FUSE_FORGET, node, fuse_forget_in{1});
}

void Attacker::check_growth() {
  return_delegations();
  // What was in doubt is put in order behind the program's back.
  std::string now = mount_->footprint();
  const TimePoint limit = mount_->reactor().now() + HostileMount::kRecovery;
  while (now != footprint_ && mount_->reactor().now() < limit) {
    mount_->reactor().advance(std::chrono::milliseconds(100));
    mount_->reactor().settle();  // a renewal of the lease has just begun
    now = mount_->footprint();
  }
  if (now == footprint_) return;
  blame("grown (5)\n  from " + footprint_ + "\n  to   " + now +
        "\n  in flight: " + mount_->in_flight());
  footprint_ = now;
}

/// Those that the server knows of, and those that it has made up.
void Attacker::return_delegations() {
  if (mount_->delegations() == 0) return;
  mount_->honest().recall_delegations();
  mount_->honest().recall_any_delegations(0);
  mount_->reactor().settle();
}

void Attacker::check_work(std::uint64_t turns, std::uint64_t calls) {
  if (turns > kMostTurns) blame(std::to_string(turns) + " turns of the loop (6)");
  if (calls > kMostCalls) blame(std::to_string(calls) + " requests (6)");
}

}  // namespace nfsrdma::hostile
