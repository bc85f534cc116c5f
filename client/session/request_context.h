// The parts of a mount that every request needs besides its arguments.
#pragma once

#include "client/names/id_map.h"
#include "client/session/client_id.h"
#include "client/session/session.h"
#include "transport/base/buffer.h"
#include "transport/base/log_limit.h"
#include "transport/base/reactor.h"

namespace nfsrdma::client {

/// One for each mount; everything it names outlives every request. Belongs to one shard.
struct RequestContext {
  Reactor& reactor;
  Session& session;
  IdMap& ids;
  const ClientId& client;    ///< of open-owners and lock-owners
  BufferPool& message_pool;  ///< registered memory, for texts that the server fetches
  /// Bounds the log lines about names that no directory can have.
  log::Limit impossible_name_lines;

  Duration lease_time() const { return session.limits().lease_time; }
};

}  // namespace nfsrdma::client
