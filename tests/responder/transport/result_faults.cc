#include "tests/responder/transport/result_faults.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "tests/hostile/as_word.h"
#include "tests/hostile/lies.h"
#include "tests/proto/operations.h"
#include "tests/responder/transport/fault_words.h"

namespace nfsrdma::responder {
namespace {

using namespace nfs4;
using hostile::SpoiledReply;

constexpr std::array<std::pair<std::string_view, std::uint32_t>, 13> kFlags = {{
    {"CB_PATH_DOWN", SEQ4_STATUS_CB_PATH_DOWN},
    {"CB_GSS_CONTEXTS_EXPIRING", SEQ4_STATUS_CB_GSS_CONTEXTS_EXPIRING},
    {"CB_GSS_CONTEXTS_EXPIRED", SEQ4_STATUS_CB_GSS_CONTEXTS_EXPIRED},
    {"EXPIRED_ALL_STATE_REVOKED", SEQ4_STATUS_EXPIRED_ALL_STATE_REVOKED},
    {"EXPIRED_SOME_STATE_REVOKED", SEQ4_STATUS_EXPIRED_SOME_STATE_REVOKED},
    {"ADMIN_STATE_REVOKED", SEQ4_STATUS_ADMIN_STATE_REVOKED},
    {"RECALLABLE_STATE_REVOKED", SEQ4_STATUS_RECALLABLE_STATE_REVOKED},
    {"LEASE_MOVED", SEQ4_STATUS_LEASE_MOVED},
    {"RESTART_RECLAIM_NEEDED", SEQ4_STATUS_RESTART_RECLAIM_NEEDED},
    {"CB_PATH_DOWN_SESSION", SEQ4_STATUS_CB_PATH_DOWN_SESSION},
    {"BACKCHANNEL_FAULT", SEQ4_STATUS_BACKCHANNEL_FAULT},
    {"DEVID_CHANGED", SEQ4_STATUS_DEVID_CHANGED},
    {"DEVID_DELETED", SEQ4_STATUS_DEVID_DELETED},
}};

std::optional<std::uint32_t> flag(std::string_view word) {
  for (const auto& [name, value] : kFlags) {
    if (name == word) return value;
  }
  return number_in<std::uint32_t>(word);
}

/// Changes SEQUENCE's result where it is one.
template <class Change>
ResultFault of_sequence(Change change) {
  return {{OP_SEQUENCE}, [change](SpoiledReply& reply) {
            reply.edit<SEQUENCE4res>([&change](SEQUENCE4res& result) {
              if (result.sr_status == NFS4_OK) change(result.sr_resok4);
            });
          }};
}

ResultFault flags_fault(std::string_view value) {
  std::uint32_t flags = 0;
  while (!value.empty()) {
    const auto one = flag(take_until(value, ','));
    if (!one) return {};
    flags |= *one;
  }
  return of_sequence([flags](SEQUENCE4resok& ok) { ok.sr_status_flags |= flags; });
}

ResultFault slots_fault(std::string_view value) {
  std::optional<std::uint32_t> highest;
  std::optional<std::uint32_t> target;
  while (!value.empty()) {
    std::string_view part = take_until(value, ',');
    const std::string_view which = take_until(part, ':');
    const auto number = number_in<std::uint32_t>(part);
    if (!number || (which != "highest" && which != "target")) return {};
    (which == "highest" ? highest : target) = number;
  }
  if (!highest && !target) return {};
  return of_sequence([highest, target](SEQUENCE4resok& ok) {
    ok.sr_highest_slotid = highest.value_or(ok.sr_highest_slotid);
    ok.sr_target_highest_slotid = target.value_or(ok.sr_target_highest_slotid);
  });
}

void shorten(SpoiledReply& reply, std::uint32_t length) {
  if (reply.find(OP_READ)) {
    reply.edit<READ4res>([length](READ4res& result) {
      auto& data = result.resok4.data.data;
      if (result.status != NFS4_OK || data.size() <= length) return;
      data = data.first(length);
      result.resok4.eof = false;
    });
  }
  if (!reply.find(OP_WRITE)) return;
  reply.edit<WRITE4res>([length](WRITE4res& result) {
    if (result.status == NFS4_OK) result.resok4.count = std::min(result.resok4.count, length);
  });
}

ResultFault short_fault(std::string_view value) {
  const std::string_view which = take_until(value, ':');
  const auto length = number_in<std::uint32_t>(value);
  if (which != "short" || !length) return {};
  return {{OP_READ, OP_WRITE}, [length](SpoiledReply& reply) { shorten(reply, *length); }};
}

ResultFault clock_fault(std::string_view value) {
  const auto seconds = signed_number_in(value);
  if (!seconds) return {};
  const auto later = [seconds](Attributes& attributes) {
    for (auto* time :
         {&attributes.time_access, &attributes.time_metadata, &attributes.time_modify}) {
      time->seconds += *seconds;
    }
  };
  return {{OP_GETATTR, OP_READDIR}, [later](SpoiledReply& reply) {
            hostile::change_attributes(reply, later);
            hostile::change_entries(reply, later);
          }};
}

ResultFault lie_fault(std::string_view value) {
  for (const auto& lie : hostile::all_lies()) {
    if (hostile::as_word(lie.name) == value) return {{lie.opnum}, lie.spoil};
  }
  return {};
}

}  // namespace

ResultFault result_fault(std::string_view name, std::string_view value) {
  if (name == "result") return short_fault(value);
  if (name == "flags") return value.empty() ? ResultFault() : flags_fault(value);
  if (name == "slots") return slots_fault(value);
  if (name == "clock") return clock_fault(value);
  return name == "lie" ? lie_fault(value) : ResultFault();
}

std::vector<std::string> lie_names() {
  std::vector<std::string> names;
  for (const auto& lie : hostile::all_lies()) names.push_back(hostile::as_word(lie.name));
  return names;
}

}  // namespace nfsrdma::responder
