#include "tests/responder/transport/fault_script.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <string>
#include <utility>

#include "client/proto/status.h"

namespace nfsrdma::responder {
namespace {

template <class T>
using Names = std::pair<std::string_view, T>;

constexpr std::array<Names<Malformed>, 18> kMalformed = {{
    {"truncated", Malformed::truncated},
    {"wrong-xid", Malformed::wrong_xid},
    {"wrong-rpc-xid", Malformed::wrong_rpc_xid},
    {"wrong-version", Malformed::wrong_version},
    {"wrong-proc", Malformed::wrong_proc},
    {"bad-chunks", Malformed::bad_chunks},
    {"read-list", Malformed::read_list},
    {"missing-chunk", Malformed::missing_chunk},
    {"missing-segment", Malformed::missing_segment},
    {"changed-handle", Malformed::changed_handle},
    {"long-length", Malformed::long_length},
    {"short-length", Malformed::short_length},
    {"short-reply-chunk", Malformed::short_reply_chunk},
    {"inline-result", Malformed::inline_result},
    {"write-pad", Malformed::write_pad},
    {"oversize", Malformed::oversize},
    {"rpc", Malformed::rpc},
    {"results", Malformed::results},
}};

constexpr std::array<Names<rpc::AcceptStat>, 5> kRpcErrors = {{
    {"prog_unavail", rpc::AcceptStat::prog_unavail},
    {"prog_mismatch", rpc::AcceptStat::prog_mismatch},
    {"proc_unavail", rpc::AcceptStat::proc_unavail},
    {"garbage_args", rpc::AcceptStat::garbage_args},
    {"system_err", rpc::AcceptStat::system_err},
}};

constexpr std::array<Names<rdma::rpc_rdma_errcode>, 2> kRdmaErrors = {{
    {"version", rdma::ERR_VERS},
    {"chunk", rdma::ERR_CHUNK},
}};

template <class Table>
auto find_name(const Table& table, std::string_view name)
    -> std::optional<typename Table::value_type::second_type> {
  for (const auto& [known, value] : table) {
    if (known == name) return value;
  }
  return std::nullopt;
}

Error bad_word(std::string_view spec, std::string_view word) {
  return Error::local(EINVAL, "fault script",
                      "'" + std::string(word) + "' in '" + std::string(spec) + "'");
}

template <class T>
std::optional<T> number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// A number, or a name as "NFS4ERR_DELAY".
std::optional<std::uint32_t> nfs_status(std::string_view text) {
  for (const auto status : nfs4::all_statuses()) {
    if (nfs4::status_name(status) == text) return status;
  }
  return number<std::uint32_t>(text);
}

/// Splits off what comes before the separator; `text` keeps the rest.
std::string_view take_until(std::string_view& text, char separator) {
  const auto end = std::min(text.find(separator), text.size());
  const auto word = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return word;
}

bool set_milliseconds(Duration& duration, std::string_view value) {
  const auto count = number<std::uint32_t>(value);
  if (count) duration = std::chrono::milliseconds(*count);
  return count.has_value();
}

template <class T>
bool set_found(T& target, const T& found) {
  target = found;
  return found.has_value();
}

bool set_disconnect(CallFaults& effect, std::string_view value) {
  effect.disconnect_before = value == "before";
  effect.disconnect_after = value == "after";
  return effect.disconnect_before || effect.disconnect_after || value == "every";
}

bool set_rpc_error(CallFaults& effect, std::string_view value) {
  effect.auth_error = value == "auth";
  return effect.auth_error || set_found(effect.rpc_error, find_name(kRpcErrors, value));
}

bool set_malformed(CallFaults& effect, std::string_view value) {
  const auto kind = find_name(kMalformed, value);
  if (kind) effect.malformed = *kind;
  return kind.has_value();
}

bool set_fragments(CallFaults& effect, std::string_view value) {
  effect.fragment_bytes = number<std::size_t>(value).value_or(0);
  return effect.fragment_bytes > 0;
}

/// Turns name and value into what the rule does. False: no such name, or a bad value.
bool set_effect(FaultRule& rule) {
  CallFaults& effect = rule.effect;
  const std::string_view name = rule.name;
  const std::string_view value = rule.value;
  if (name == "delay") return set_milliseconds(effect.delay, value);
  if (name == "delay-reply") return set_milliseconds(effect.delay_reply, value);
  if (name == "disconnect") return set_disconnect(effect, value);
  if (name == "credits") return number<std::uint32_t>(value).has_value();
  if (name == "nfsstat") return set_found(effect.nfs_status, nfs_status(value));
  if (name == "rpc-error") return set_rpc_error(effect, value);
  if (name == "rdma-error") return set_found(effect.rdma_error, find_name(kRdmaErrors, value));
  if (name == "fragments") return set_fragments(effect, value);
  if (name == "malformed") return set_malformed(effect, value);
  if (!value.empty()) return false;
  if (name == "drop-reply") return effect.drop_reply = true;
  if (name == "duplicate-reply") return effect.duplicate_reply = true;
  if (name == "zero-grant") return effect.zero_grant = true;
  return false;
}

bool set_operation(FaultRule& rule, std::string_view value) {
  rule.operation = value == "NULL" ? kNullProcedure : operation_number(value);
  return rule.operation.has_value();
}

bool set_option(FaultRule& rule, std::string_view key, std::string_view value) {
  if (key == "op") return set_operation(rule, value);
  if (key == "seconds") {
    const auto seconds = number<double>(value);
    rule.seconds = seconds.value_or(0);
    return rule.seconds > 0;
  }
  const auto count = number<std::uint64_t>(value);
  if (!count) return false;
  if (key == "every") rule.every = *count;
  if (key == "after") rule.after = *count;
  if (key == "times") rule.times = *count;
  return (key == "every" && *count > 0) || key == "after" || key == "times";
}

bool is_per_call(const FaultRule& rule) {
  return rule.name != "credits" && !(rule.name == "disconnect" && rule.value == "every");
}

bool matches(const FaultRule& rule, const OperationList& operations) {
  if (!rule.operation) return true;
  if (*rule.operation == kNullProcedure) return operations.numbers().empty();
  return operations.contains(*rule.operation);
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
  if (effect.rpc_error) faults.rpc_error = effect.rpc_error;
  if (effect.rdma_error) faults.rdma_error = effect.rdma_error;
  if (effect.fragment_bytes > 0) faults.fragment_bytes = effect.fragment_bytes;
  if (effect.malformed != Malformed::none) faults.malformed = effect.malformed;
  if (effect.nfs_status) {
    faults.nfs_status = effect.nfs_status;
    faults.nfs_operation = rule.operation.value_or(kNullProcedure);
  }
}

}  // namespace

Result<std::uint32_t> FaultScript::add(std::string_view spec) {
  FaultRule rule;
  rule.text = spec;
  std::string_view rest = spec;
  std::string_view head = take_until(rest, ':');
  const std::string_view whole_head = head;
  rule.name = take_until(head, '=');
  rule.value = head;
  if (!set_effect(rule)) return fail(bad_word(spec, whole_head));
  while (!rest.empty()) {
    std::string_view option = take_until(rest, ':');
    const std::string_view whole_option = option;
    const std::string_view key = take_until(option, '=');
    if (!set_option(rule, key, option)) return fail(bad_word(spec, whole_option));
  }
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
    if (!is_per_call(rule) || !matches(rule, operations)) continue;
    if (fires(rule)) merge(faults, rule);
  }
  return faults;
}

std::optional<std::uint32_t> FaultScript::credits() const {
  std::optional<std::uint32_t> latest;
  for (const auto& rule : rules_) {
    if (rule.name == "credits") latest = number<std::uint32_t>(rule.value);
  }
  return latest;
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
