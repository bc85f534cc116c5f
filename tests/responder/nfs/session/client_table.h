// Client records (RFC 8881 sections 2.4 and 18.35).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "client/proto/ops_session.h"
#include "tests/responder/nfs/fs/outcome.h"
#include "tests/responder/nfs/session/slot.h"
#include "transport/base/reactor.h"
#include "transport/rpc/message.h"

namespace nfsrdma::responder {

/// The principal of a client with SP4_NONE: the flavor and user of the request.
struct Principal {
  rpc::AuthFlavor flavor = rpc::AuthFlavor::none;
  std::uint32_t uid = 0;

  friend bool operator==(const Principal&, const Principal&) = default;
};

struct Client {
  nfs4::clientid4 id = 0;
  std::string owner;  ///< co_ownerid
  nfs4::verifier4 verifier{};
  Principal principal;
  bool confirmed = false;
  bool reclaim_complete = false;
  /// The slot of CREATE_SESSION (RFC 8881 section 18.36.4): sequence of the last one and its
  /// result.
  Outcome<Order> order_of_creation(nfs4::sequenceid4 number) const {
    return order_of(number, session_sequence, last_create_session.has_value());
  }
  void keep_creation(nfs4::sequenceid4 number, const nfs4::CREATE_SESSION4res& result) {
    session_sequence = number;
    last_create_session = result;
  }
  nfs4::sequenceid4 session_sequence = 0;
  std::optional<nfs4::CREATE_SESSION4res> last_create_session;
  std::uint32_t revoked_delegations = 0;  ///< that it has not acknowledged
  std::uint32_t revoked_locks = 0;        ///< likewise lock stateids
  TimePoint lease_ends{};
  std::uint32_t requests_open = 0;  ///< the lease does not expire while one is executed
};

class ClientTable {
 public:
  /// `on_gone` must take away all state of a client; called right before its record goes.
  ClientTable(std::uint32_t instance, std::function<void(Client&)> on_gone)
      : instance_(instance), on_gone_(std::move(on_gone)) {}

  /// The table's questions about a client's record that conflicts with another.
  struct Holdings {
    std::function<bool(const Client&)> sessions;
    std::function<bool(const Client&)> states;
  };

  /// EXCHANGE_ID's choice among the nine cases of RFC 8881 section 18.35.4. The record returned
  /// belongs to the table. In a full table an unconfirmed record makes room, else one without
  /// state; DELAY when there is none.
  Outcome<Client*> exchange(const nfs4::EXCHANGE_ID4args& args, const Principal& principal,
                            TimePoint lease_ends, const Holdings& holdings);
  /// Null when unknown (STALE_CLIENTID).
  Client* find(nfs4::clientid4 id);
  /// Makes a record the confirmed one of its owner; an older one goes with all its state.
  void confirm(Client& client);
  void destroy(Client& client);
  /// Destroys every client whose lease ended before `now`; returns how many.
  std::size_t expire(TimePoint now);

  bool empty() const { return clients_.empty(); }
  std::size_t size() const { return clients_.size(); }
  /// Owners of the confirmed clients: those may reclaim after a restart.
  std::set<std::string> confirmed_owners() const;

 private:
  Client* find_by_owner(const std::string& owner, bool confirmed);
  Outcome<Client*> update(Client* confirmed, const nfs4::EXCHANGE_ID4args& args,
                          const Principal& principal);
  bool make_room(const Holdings& holdings);
  Client* add(const nfs4::EXCHANGE_ID4args& args, const Principal& principal, std::string owner);

  std::uint32_t instance_;
  std::uint32_t next_ = 1;
  std::function<void(Client&)> on_gone_;
  std::unordered_map<nfs4::clientid4, std::unique_ptr<Client>> clients_;
};

}  // namespace nfsrdma::responder
