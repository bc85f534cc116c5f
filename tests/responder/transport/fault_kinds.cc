#include "tests/responder/transport/fault_kinds.h"

#include <algorithm>
#include <array>
#include <utility>

#include "client/proto/status.h"
#include "tests/responder/transport/fabric_kinds.h"
#include "tests/responder/transport/fault_words.h"

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

/// A number, or a name as "NFS4ERR_DELAY".
std::optional<std::uint32_t> nfs_status(std::string_view text) {
  for (const auto status : nfs4::all_statuses()) {
    if (nfs4::status_name(status) == text) return status;
  }
  return number_in<std::uint32_t>(text);
}

bool set_milliseconds(Duration& duration, std::string_view value) {
  const auto count = number_in<std::uint32_t>(value);
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
  return effect.disconnect_before || effect.disconnect_after;
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
  effect.fragment_bytes = number_in<std::size_t>(value).value_or(0);
  return effect.fragment_bytes > 0;
}

bool set_reorder(CallFaults& effect, std::string_view value) {
  effect.overtaken = number_in<std::uint32_t>(value).value_or(0);
  return effect.overtaken > 0;
}

bool set_replay_cache(CallFaults& effect, std::string_view value) {
  if (value == "off") effect.service.reply_cache = ReplyCache::lost;
  if (value == "garbage") effect.service.reply_cache = ReplyCache::garbage;
  return effect.service.reply_cache != ReplyCache::kept;
}

bool set_unstable(CallFaults& effect, std::string_view value) {
  effect.service.unstable_lost = value == "lost";
  return effect.service.unstable_lost;
}

/// One number stands; several are granted in turn, one in each reply.
bool set_credits(FaultRule& rule) {
  std::string_view rest = rule.value;
  while (!rest.empty()) {
    const auto credits = number_in<std::uint32_t>(take_until(rest, ','));
    if (!credits) return false;
    rule.grants.push_back(*credits);
  }
  if (rule.grants.size() == 1) rule.level = FaultRule::Level::standing;
  return !rule.grants.empty();
}

bool set_standing(FaultRule& rule) {
  rule.level = FaultRule::Level::standing;
  return rule.name != "cb-credits" || number_in<std::uint32_t>(rule.value).has_value();
}

bool set_results(FaultRule& rule) {
  rule.level = FaultRule::Level::results;
  rule.result = result_fault(rule.name, rule.value);
  return rule.result.spoil != nullptr;
}

bool set_fabric(FaultRule& rule) {
  auto fault = fabric_fault(rule.name, rule.value);
  if (!fault) return false;
  rule.level = FaultRule::Level::fabric;
  rule.fabric = std::move(*fault);
  return true;
}

bool set_rdma_error(CallFaults& effect, std::string_view value) {
  return set_found(effect.rdma_error, find_name(kRdmaErrors, value));
}

bool set_nfs_status(CallFaults& effect, std::string_view value) {
  return set_found(effect.nfs_status, nfs_status(value));
}

bool set_delay(CallFaults& effect, std::string_view value) {
  return set_milliseconds(effect.delay, value);
}

bool set_delay_reply(CallFaults& effect, std::string_view value) {
  return set_milliseconds(effect.delay_reply, value);
}

/// For kinds without a value.
template <bool CallFaults::*kFlag>
bool set_flag(CallFaults& effect, std::string_view value) {
  effect.*kFlag = true;
  return value.empty();
}

struct Kind {
  std::string_view name;
  std::string_view value;  ///< how it is written behind the name, if it has one that is not named
  bool (*set)(CallFaults&, std::string_view value);
};

constexpr std::array<Kind, 14> kKinds = {{
    {"delay", "=MS", set_delay},
    {"delay-reply", "=MS", set_delay_reply},
    {"drop-reply", "", set_flag<&CallFaults::drop_reply>},
    {"duplicate-reply", "", set_flag<&CallFaults::duplicate_reply>},
    {"disconnect", "", set_disconnect},
    {"reorder", "=N", set_reorder},
    {"replay-cache", "", set_replay_cache},
    {"unstable", "=lost", set_unstable},
    {"zero-grant", "", set_flag<&CallFaults::zero_grant>},
    {"nfsstat", "=STATUS:op=OPERATION", set_nfs_status},
    {"rpc-error", "", set_rpc_error},
    {"rdma-error", "", set_rdma_error},
    {"malformed", "", set_malformed},
    {"fragments", "=BYTES", set_fragments},
}};

/// Those that are not of calls alone.
struct OtherKind {
  std::string_view name;
  std::string_view value;
  bool (*set)(FaultRule& rule);
};
constexpr std::array<OtherKind, 9> kOtherKinds = {{
    {"credits", "=N[,N...]", set_credits},
    {"cb-credits", "=N", set_standing},
    {"result", "=short:N", set_results},
    {"flags", "=NAME[,NAME...]", set_results},
    {"slots", "=highest:N,target:N", set_results},
    {"clock", "=+SECONDS", set_results},
    {"lie", "=NAME", set_results},
    // Comes before the fabric's fault of this name.
    {"disconnect", "", [](FaultRule& rule) { return rule.value == "every" && set_standing(rule); }},
    {"", "", set_fabric},
}};

template <class Table>
std::vector<std::string> names_of(const Table& table) {
  std::vector<std::string> names;
  for (const auto& [name, value] : table) names.emplace_back(name);
  return names;
}

std::vector<std::string> named_values(std::string_view kind) {
  if (kind == "disconnect") return {"before", "after", "every:seconds=N"};
  if (kind == "replay-cache") return {"off", "garbage"};
  if (kind == "rdma-error") return names_of(kRdmaErrors);
  if (kind == "malformed") return names_of(kMalformed);
  if (kind != "rpc-error") return {};
  auto names = names_of(kRpcErrors);
  names.emplace_back("auth");
  return names;
}

}  // namespace

bool set_effect(FaultRule& rule) {
  for (const Kind& kind : kKinds) {
    if (kind.name == rule.name && kind.set(rule.effect, rule.value)) return true;
  }
  return std::ranges::any_of(kOtherKinds, [&rule](const OtherKind& kind) {
    return (kind.name.empty() || kind.name == rule.name) && kind.set(rule);
  });
}

std::vector<std::string> lie_kinds() {
  std::vector<std::string> kinds = lie_names();
  for (auto& name : kinds) name.insert(0, "lie=");
  return kinds;
}

std::vector<std::string> fault_kinds() {
  std::vector<std::string> kinds;
  const auto list = [&kinds](std::string_view name, std::string_view value) {
    if (name.empty()) return;
    const auto values = named_values(name);
    if (values.empty()) kinds.push_back(std::string(name) + std::string(value));
    for (const auto& each : values) kinds.push_back(std::string(name) + "=" + each);
  };
  for (const Kind& kind : kKinds) list(kind.name, kind.value);
  for (const OtherKind& kind : kOtherKinds) {
    if (kind.name != "disconnect") list(kind.name, kind.value);
  }
  const auto fabric = fabric_kinds();
  kinds.insert(kinds.end(), fabric.begin(), fabric.end());
  return kinds;
}

std::string fault_kinds_like(std::string_view name) {
  std::string like;
  std::string all;
  auto kinds = fault_kinds();
  if (name == "lie") kinds = lie_kinds();
  for (const auto& kind : kinds) {
    const std::string_view head = std::string_view(kind).substr(0, kind.find('='));
    all += (all.empty() ? "" : ", ") + kind;
    if (head == name) like += (like.empty() ? "" : ", ") + kind;
  }
  return like.empty() ? all : like;
}

}  // namespace nfsrdma::responder
