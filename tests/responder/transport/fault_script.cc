#include "tests/responder/transport/fault_script.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <string>
#include <utility>

#include "tests/responder/transport/fault_kinds.h"
#include "tests/responder/transport/fault_words.h"
#include "tests/support/similar_status.h"

namespace nfsrdma::responder {
namespace {

Error bad_word(std::string_view spec, std::string_view word) {
  return Error::local(EINVAL, "fault script",
                      "'" + std::string(word) + "' in '" + std::string(spec) + "'");
}

std::optional<double> seconds_in(std::string_view text) {
  double value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool set_operation(FaultRule& rule, std::string_view value) {
  rule.operation = value == "NULL" ? kNullProcedure : operation_number(value);
  return rule.operation.has_value();
}

bool set_option(FaultRule& rule, std::string_view key, std::string_view value) {
  if (key == "op") return set_operation(rule, value);
  if (key == "seconds") {
    const auto seconds = seconds_in(value);
    rule.seconds = seconds.value_or(0);
    return rule.seconds > 0;
  }
  const auto count = number_in<std::uint64_t>(value);
  if (!count) return false;
  if (key == "every") rule.every = *count;
  if (key == "after") rule.after = *count;
  if (key == "times") rule.times = *count;
  return (key == "every" && *count > 0) || key == "after" || key == "times";
}

bool matches(const FaultRule& rule, const OperationList& operations) {
  if (!rule.operation) return true;
  if (*rule.operation == kNullProcedure) return operations.numbers().empty();
  return operations.contains(*rule.operation);
}

bool is_in(const FaultRule& rule, hostile::SpoiledReply& reply) {
  const auto has = [&reply](std::uint32_t opnum) {
    return reply.find(static_cast<nfs4::nfs_opnum4>(opnum)) != nullptr;
  };
  return (!rule.operation || has(*rule.operation)) && std::ranges::any_of(rule.result.of, has);
}

/// Counts a matching call and tells whether the rule fires on it.
bool fires(FaultRule& rule) {
  ++rule.matched;
  if (rule.matched <= rule.after || (rule.matched - rule.after) % rule.every != 0) return false;
  if (rule.times && rule.fired >= *rule.times) return false;
  ++rule.fired;
  return true;
}

void merge(CallFaults& faults, const FaultRule& rule) {
  const CallFaults& effect = rule.effect;
  faults.delay += effect.delay;
  faults.delay_reply += effect.delay_reply;
  faults.drop_reply |= effect.drop_reply;
  faults.duplicate_reply |= effect.duplicate_reply;
  faults.disconnect_before |= effect.disconnect_before;
  faults.disconnect_after |= effect.disconnect_after;
  faults.zero_grant |= effect.zero_grant;
  faults.auth_error |= effect.auth_error;
  faults.overtaken += effect.overtaken;
  faults.service.unstable_lost |= effect.service.unstable_lost;
  if (effect.service.reply_cache != ReplyCache::kept) {
    faults.service.reply_cache = effect.service.reply_cache;
  }
  if (!rule.grants.empty()) faults.grant = rule.grants[(rule.fired - 1) % rule.grants.size()];
  if (effect.rpc_error) faults.rpc_error = effect.rpc_error;
  if (effect.rdma_error) faults.rdma_error = effect.rdma_error;
  if (effect.fragment_bytes > 0) faults.fragment_bytes = effect.fragment_bytes;
  if (effect.malformed != Malformed::none) faults.malformed = effect.malformed;
  if (effect.nfs_status) {
    faults.nfs_status = effect.nfs_status;
    faults.nfs_operation = rule.operation.value_or(kNullProcedure);
  }
}

/// Name and value: whatever is in front of the first option.
std::string_view take_head(std::string_view& rest) {
  const std::string_view all = rest;
  std::string_view behind = rest;
  std::size_t length = take_until(behind, ':').size();
  while (!behind.empty()) {
    std::string_view next = behind;
    const std::string_view part = take_until(next, ':');
    if (part.find('=') != std::string_view::npos) break;
    length += 1 + part.size();
    behind = next;
  }
  rest = behind;
  return all.substr(0, length);
}

Result<void> read_rule(FaultRule& rule, std::string_view spec) {
  std::string_view rest = spec;
  std::string_view head = take_head(rest);
  const std::string_view whole_head = head;
  rule.name = take_until(head, '=');
  rule.value = head;
  if (!set_effect(rule)) {
    const auto meant = rule.name == "nfsstat" ? testing_support::similar_status(rule.value) : "";
    if (!meant.empty()) {
      return fail(Error::local(EINVAL, "fault script",
                               "'" + rule.value + "' in '" + std::string(spec) +
                                   "' is no status: did you mean " + std::string(meant) + "?"));
    }
    return fail(Error::local(EINVAL, "fault script",
                             "'" + std::string(whole_head) + "' in '" + std::string(spec) +
                                 "' is none of: " + fault_kinds_like(rule.name)));
  }
  while (!rest.empty()) {
    std::string_view option = take_until(rest, ':');
    const std::string_view whole_option = option;
    const std::string_view key = take_until(option, '=');
    if (!set_option(rule, key, option)) return fail(bad_word(spec, whole_option));
  }
  return {};
}

}  // namespace

Result<std::uint32_t> FaultScript::add(std::string_view spec) {
  FaultRule rule;
  rule.text = spec;
  TRY(read_rule(rule, spec));
  const bool needs_operation = rule.name == "nfsstat";
  const bool needs_seconds = rule.name == "disconnect" && rule.value == "every";
  if (needs_operation && !rule.operation) return fail(bad_word(spec, "op= is missing"));
  if (needs_seconds != (rule.seconds > 0)) return fail(bad_word(spec, "seconds="));
  rule.id = ++last_id_;
  rules_.push_back(std::move(rule));
  return last_id_;
}

bool FaultScript::remove(std::uint32_t id) {
  return std::erase_if(rules_, [id](const FaultRule& rule) { return rule.id == id; }) > 0;
}

CallFaults FaultScript::decide(const OperationList& operations) {
  CallFaults faults;
  for (auto& rule : rules_) {
    if (rule.level != FaultRule::Level::call || !matches(rule, operations)) continue;
    if (fires(rule)) merge(faults, rule);
  }
  return faults;
}

bool FaultScript::has_results() const {
  return std::ranges::any_of(
      rules_, [](const FaultRule& rule) { return rule.level == FaultRule::Level::results; });
}

bool FaultScript::spoil(hostile::SpoiledReply& reply) {
  bool any = false;
  for (auto& rule : rules_) {
    if (rule.level != FaultRule::Level::results || !is_in(rule, reply) || !fires(rule)) continue;
    rule.result.spoil(reply);
    any = true;
  }
  return any;
}

std::vector<faults::FabricFault> FaultScript::decide(faults::At at) {
  std::vector<faults::FabricFault> faults;
  for (auto& rule : rules_) {
    if (rule.level != FaultRule::Level::fabric || rule.fabric.at != at) continue;
    if (rule.operation && !(posting_for_ && matches(rule, *posting_for_))) continue;
    if (fires(rule)) faults.push_back(rule.fabric);
  }
  return faults;
}

std::optional<std::uint32_t> FaultScript::latest_number(std::string_view name) const {
  std::optional<std::uint32_t> latest;
  for (const auto& rule : rules_) {
    const bool stands = rule.level == FaultRule::Level::standing && rule.name == name;
    if (stands) latest = number_in<std::uint32_t>(rule.value);
  }
  return latest;
}

std::optional<std::uint32_t> FaultScript::credits() const { return latest_number("credits"); }

std::optional<std::uint32_t> FaultScript::backward_credits() const {
  return latest_number("cb-credits");
}

std::optional<Duration> FaultScript::disconnect_period() const {
  std::optional<Duration> latest;
  for (const auto& rule : rules_) {
    if (rule.seconds <= 0) continue;
    latest = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(rule.seconds));
  }
  return latest;
}

std::uint64_t FaultScript::fired(std::uint32_t id) const {
  for (const auto& rule : rules_) {
    if (rule.id == id) return rule.fired;
  }
  return 0;
}

void FaultScript::visit_counters(CounterVisitor& visitor) const {
  for (const auto& rule : rules_) {
    visitor.visit("fault_" + std::to_string(rule.id) + "_" + rule.name, rule.fired);
  }
}

}  // namespace nfsrdma::responder
