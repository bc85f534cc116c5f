// State that changes when a server restarts.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "client/proto/types.h"
#include "transport/base/reactor.h"

namespace nfsrdma::responder {

/// One life of the server: its number is in client ids, session ids and stateids, its verifier in
/// answers to WRITE and COMMIT.
struct Instance {
  /// `reclaimers`: owners of the clients of the previous life; empty and `any_may_reclaim` when
  /// nothing is known of it.
  static Instance begin(TimePoint grace_ends, std::set<std::string> reclaimers,
                        bool any_may_reclaim);

  bool in_grace(TimePoint now) const { return now < grace_ends; }
  bool may_reclaim(const std::string& owner) const {
    return any_may_reclaim || reclaimers.contains(owner);
  }
  /// A client has reclaimed all it had; when it was the last, the grace period ends early.
  void reclaimed(const std::string& owner);

  std::uint32_t number = 0;
  nfs4::verifier4 write_verifier{};
  TimePoint grace_ends{};
  std::set<std::string> reclaimers;
  bool any_may_reclaim = true;
};

}  // namespace nfsrdma::responder
