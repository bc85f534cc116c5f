#include "tests/responder/nfs/session/session.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "tests/responder/nfs/session/client_table.h"

namespace nfsrdma::responder {

using namespace nfs4;

namespace {

// Room for SEQUENCE and one small operation with their RPC headers.
constexpr std::uint32_t kLeastMessage = 256;
constexpr std::uint32_t kLeastOperations = 2;

bool is_useless(const channel_attrs4& channel) {
  return channel.ca_maxrequestsize < kLeastMessage || channel.ca_maxresponsesize < kLeastMessage ||
         channel.ca_maxoperations < kLeastOperations || channel.ca_maxrequests == 0;
}

void clamp(std::uint32_t& value, std::uint32_t limit) { value = std::min(value, limit); }

}  // namespace

bool BackChannel::aim(std::uint32_t program, const std::vector<callback_sec_parms4>& security) {
  const auto spoken = std::ranges::find_if(
      security, [](const auto& each) { return each.cb_secflavor != kRpcsecGss; });
  if (spoken == security.end() && !security.empty()) return false;
  target = {.program = program};
  if (spoken == security.end() || spoken->cb_secflavor != kAuthSys) return true;
  const authsys_parms& sys = spoken->cbsp_sys_cred;
  rpc::Credential& credential = target.credential;
  credential.flavor = rpc::AuthFlavor::sys;
  credential.uid = sys.uid;
  credential.gid = sys.gid;
  credential.group_count =
      static_cast<std::uint32_t>(std::min(sys.gids.size(), credential.groups.size()));
  std::copy_n(sys.gids.begin(), credential.group_count, credential.groups.begin());
  target.machine_name = sys.machinename;
  return true;
}

Outcome<Slot*> Session::slot_for(const SEQUENCE4args& args) {
  if (args.sa_slotid >= slots.size()) return refuse(NFS4ERR_BADSLOT);
  if (args.sa_highest_slotid >= slots.size()) return refuse(NFS4ERR_BAD_HIGH_SLOT);
  return &slots[args.sa_slotid];
}

void Session::begin(Slot& slot, const SEQUENCE4args& args, std::uint64_t fingerprint) {
  slot.sequence = args.sa_sequenceid;
  slot.used = true;
  slot.in_progress = true;
  slot.fingerprint = fingerprint;
  slot.reply.clear();
  adjust_slots(std::max(args.sa_highest_slotid, args.sa_slotid));
}

void Session::set_target(std::uint32_t target) {
  target_slots = std::clamp<std::uint32_t>(target, 1, attributes.ca_maxrequests);
  if (target_slots > slots.size()) slots.resize(target_slots);
}

void Session::adjust_slots(slotid4 highest_used) {
  const std::size_t keep = std::max<std::size_t>(target_slots, std::size_t{highest_used} + 1);
  if (keep >= slots.size()) return;
  const bool busy = std::any_of(slots.begin() + static_cast<std::ptrdiff_t>(keep), slots.end(),
                                [](const Slot& slot) { return slot.in_progress; });
  if (!busy) slots.resize(keep);
}

std::size_t SessionIdHash::operator()(const sessionid4& id) const {
  return std::hash<std::string_view>{}({reinterpret_cast<const char*>(id.data()), id.size()});
}

nfsstat4 SessionTable::negotiate(channel_attrs4& fore, channel_attrs4& back) const {
  if (is_useless(fore) || is_useless(back)) return NFS4ERR_TOOSMALL;
  clamp(fore.ca_maxrequestsize, limits_.max_request_size);
  clamp(fore.ca_maxresponsesize, limits_.max_response_size);
  clamp(fore.ca_maxresponsesize_cached, limits_.max_response_size_cached);
  clamp(fore.ca_maxoperations, limits_.max_operations);
  clamp(fore.ca_maxrequests, limits_.max_slots);
  fore.ca_headerpadsize = 0;
  fore.ca_rdma_ird.reset();
  back.ca_headerpadsize = 0;
  back.ca_rdma_ird.reset();
  return NFS4_OK;
}

SessionRef SessionTable::create(Client& client, const channel_attrs4& fore) {
  sessionid4 id{};
  const std::uint64_t client_id = client.id;
  const std::uint32_t number = next_++;
  std::memcpy(id.data(), &client_id, sizeof client_id);
  std::memcpy(id.data() + sizeof client_id, &number, sizeof number);
  std::memcpy(id.data() + sizeof client_id + sizeof number, &instance_, sizeof instance_);
  auto session = std::make_shared<Session>(id, client, fore);
  session->set_target(target_slots_);
  sessions_.emplace(id, session);
  return session;
}

SessionTable::~SessionTable() { destroy_all(); }

void SessionTable::destroy_all() {
  for (auto& [id, session] : sessions_) session->client = nullptr;
  sessions_.clear();
}

SessionRef SessionTable::find(const sessionid4& id) const {
  const auto found = sessions_.find(id);
  return found == sessions_.end() ? nullptr : found->second;
}

void SessionTable::destroy(const sessionid4& id) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return;
  found->second->client = nullptr;
  sessions_.erase(found);
}

void SessionTable::destroy_all_of(const Client& client) {
  std::erase_if(sessions_, [&](auto& entry) {
    if (entry.second->client != &client) return false;
    entry.second->client = nullptr;
    return true;
  });
}

std::size_t SessionTable::count_of(const Client& client) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      sessions_, [&](const auto& entry) { return entry.second->client == &client; }));
}

void SessionTable::connection_closed(const Connection& connection) {
  for (auto& [id, session] : sessions_) {
    if (session->back.connection == &connection) session->back.connection = nullptr;
  }
}

void SessionTable::set_target_slots(std::uint32_t slots) {
  target_slots_ = slots;
  for (auto& [id, session] : sessions_) session->set_target(slots);
}

}  // namespace nfsrdma::responder
