// A state that this client holds at the server (an open file, a lock, a delegation), as the
// requests that use it see it.
#pragma once

#include <memory>

#include "client/proto/status.h"
#include "client/proto/types.h"

namespace nfsrdma::client {

/// Its stateid changes when it is recovered, so requests name the state, and the stateid is filled
/// in each time they are sent. Belongs to one shard.
class StateHolder {
 public:
  virtual nfs4::stateid4 stateid() const = 0;
  /// The server has taken it away for good: every use of it fails.
  virtual bool lost() const = 0;
  /// The server does not know its stateid any more, and a new one is being got.
  virtual bool recovering() const = 0;
  /// The server has refused the stateid that is current: it must be recovered, or is lost.
  virtual void on_refused(nfs4::nfsstat4 status) = 0;

 protected:
  ~StateHolder() = default;
};

/// Empty: no state, the anonymous stateid (RFC 8881 section 8.2.3).
using StateRef = std::shared_ptr<StateHolder>;

}  // namespace nfsrdma::client
