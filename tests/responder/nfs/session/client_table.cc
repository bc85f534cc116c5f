#include "tests/responder/nfs/session/client_table.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "tests/proto/operations.h"
#include "transport/base/log.h"

namespace nfsrdma::responder {

using namespace nfs4;

namespace {

constexpr int kInstanceShift = 32;
// Records, confirmed or not.
constexpr std::size_t kMaxClients = 1024;

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

Outcome<Client*> ClientTable::exchange(const EXCHANGE_ID4args& args, const Principal& principal,
                                       TimePoint lease_ends, const Holdings& holdings) {
  std::string owner = text_of(args.eia_clientowner.co_ownerid);
  Client* confirmed = find_by_owner(owner, true);
  if ((args.eia_flags & EXCHGID4_FLAG_UPD_CONFIRMED_REC_A) != 0) {
    return update(confirmed, args, principal);
  }
  if (confirmed && confirmed->principal != principal) {
    // Client collision (case 3).
    if (holdings.states(*confirmed) || holdings.sessions(*confirmed)) {
      return refuse(NFS4ERR_CLID_INUSE);
    }
    destroy(*confirmed);
    confirmed = nullptr;
  }
  if (Client* unconfirmed = find_by_owner(owner, false)) destroy(*unconfirmed);
  if (confirmed && confirmed->verifier == args.eia_clientowner.co_verifier) {
    return confirmed;  // case 2
  }
  if (clients_.size() >= kMaxClients && !make_room(holdings)) return refuse(NFS4ERR_DELAY);
  // New owner, replacement of an unconfirmed record, or client restart (cases 1, 4 and 5): a
  // restarted client's old record stays until CREATE_SESSION confirms the new one.
  Client* added = add(args, principal, std::move(owner));
  added->lease_ends = lease_ends;
  return added;
}

// A client whose record has gone without state has lost nothing: it gets STALE_CLIENTID or
// BADSESSION, and makes itself known again.
bool ClientTable::make_room(const Holdings& holdings) {
  std::vector<Client*> order;
  for (auto& [id, client] : clients_) {
    if (client->requests_open == 0) order.push_back(client.get());
  }
  const auto usefulness = [&](const Client* client) {
    const int kind = !client->confirmed ? 0 : holdings.sessions(*client) ? 2 : 1;
    return std::pair(kind, client->lease_ends);
  };
  std::ranges::sort(order, {}, usefulness);
  const auto missed_least = std::ranges::find_if(
      order, [&](const Client* client) { return !client->confirmed || !holdings.states(*client); });
  if (missed_least == order.end()) {
    log::warning("{} clients are known and all have files open: another one is put off",
                 clients_.size());
    return false;
  }
  destroy(**missed_least);
  return true;
}

// Cases 6 to 9: EXCHGID4_FLAG_UPD_CONFIRMED_REC_A.
Outcome<Client*> ClientTable::update(Client* confirmed, const EXCHANGE_ID4args& args,
                                     const Principal& principal) {
  if (!confirmed) return refuse(NFS4ERR_NOENT);
  if (confirmed->verifier != args.eia_clientowner.co_verifier) return refuse(NFS4ERR_NOT_SAME);
  if (confirmed->principal != principal) return refuse(NFS4ERR_PERM);
  return confirmed;
}

Client* ClientTable::add(const EXCHANGE_ID4args& args, const Principal& principal,
                         std::string owner) {
  auto client = std::make_unique<Client>();
  client->id = std::uint64_t{instance_} << kInstanceShift | next_++;
  client->owner = std::move(owner);
  client->verifier = args.eia_clientowner.co_verifier;
  client->principal = principal;
  Client* added = client.get();
  clients_.emplace(added->id, std::move(client));
  return added;
}

Client* ClientTable::find(clientid4 id) {
  const auto found = clients_.find(id);
  return found == clients_.end() ? nullptr : found->second.get();
}

Client* ClientTable::find_by_owner(const std::string& owner, bool confirmed) {
  const auto found = std::ranges::find_if(clients_, [&](const auto& entry) {
    return entry.second->confirmed == confirmed && entry.second->owner == owner;
  });
  return found == clients_.end() ? nullptr : found->second.get();
}

void ClientTable::confirm(Client& client) {
  if (client.confirmed) return;
  if (Client* older = find_by_owner(client.owner, true)) destroy(*older);
  client.confirmed = true;
}

void ClientTable::destroy(Client& client) {
  on_gone_(client);
  clients_.erase(client.id);
}

std::size_t ClientTable::expire(TimePoint now) {
  std::vector<Client*> expired;
  for (auto& [id, client] : clients_) {
    if (client->requests_open == 0 && client->lease_ends < now) expired.push_back(client.get());
  }
  for (Client* client : expired) destroy(*client);
  return expired.size();
}

std::set<std::string> ClientTable::confirmed_owners() const {
  std::set<std::string> owners;
  for (const auto& [id, client] : clients_) {
    if (client->confirmed) owners.insert(client->owner);
  }
  return owners;
}

}  // namespace nfsrdma::responder
