// Who this client is to the server: co_ownerid and verifier, and the client id they were exchanged
// for (RFC 8881 sections 2.4 and 18.35).
#pragma once

#include <string>

#include "client/compound/compound.h"
#include "client/proto/object.h"
#include "client/proto/ops_session.h"
#include "transport/base/reactor.h"

namespace nfsrdma::client {

/// A co_ownerid that no other mount has: of host name, process id, start time and chance.
std::string make_client_owner();

/// Owner and verifier stay for the life of the mount instance; the client id is forgotten when the
/// server no longer knows it.
class ClientId {
 public:
  /// An empty `identity` is replaced by make_client_owner(). The reactor is not kept.
  ClientId(Reactor& reactor, std::string identity);

  /// EXCHANGE_ID's only operation, to be sent alone.
  void add_exchange(Compound& compound) const;
  /// Takes over the answer; true: to the server this is a new client, which has no state. Refuses a
  /// server that serves no NFS or wants state protection.
  Result<bool> accept_exchange(CompoundReader& results);

  bool known() const { return known_; }
  void forget() { known_ = false; }
  nfs4::clientid4 clientid() const { return clientid_; }
  const std::string& identity() const { return identity_; }

  /// csa_sequence of the next CREATE_SESSION. It is used up when that has succeeded.
  nfs4::sequenceid4 sequence() const { return sequence_; }
  void sequence_used();
  /// CREATE_SESSION has failed: most servers keep the error for its repetition, so that another
  /// number is needed, and some do not count it (RFC 8881 section 18.36.4). NFS4ERR_SEQ_MISORDERED
  /// tells which.
  void sequence_refused(nfs4::nfsstat4 status);

 private:
  std::string identity_;
  nfs4::verifier4 verifier_;
  nfs4::clientid4 clientid_ = 0;
  nfs4::sequenceid4 sequence_ = 0;
  nfs4::sequenceid4 guessed_ = 0;  ///< so many of them it has counted, or not
  bool known_ = false;
};

}  // namespace nfsrdma::client
