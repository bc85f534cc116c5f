// How long the server may put a request off (NFS4ERR_DELAY, NFS4ERR_GRACE).
#pragma once

#include "client/proto/status.h"
#include "transport/base/reactor.h"

namespace nfsrdma::client {

/// Once it is over, the server's answer is the request's outcome. The grace period ends by itself,
/// and may be longer than what a single open or lock is worth waiting for otherwise.
struct Patience {
  Patience() = default;
  Patience(Duration both) : delay(both), grace(both) {}
  Patience(Duration with_delay, Duration with_grace) : delay(with_delay), grace(with_grace) {}

  Duration delay = Duration::max();  ///< with NFS4ERR_DELAY
  Duration grace = Duration::max();  ///< with NFS4ERR_GRACE
};

/// The time that one request has been put off.
class PutOff {
 public:
  PutOff(const Patience& patience, TimePoint begun)
      : patience_(patience), begun_(begun), delayed_since_(begun) {}

  /// The server has put it off with this status. What it spent in the grace period is no DELAY.
  bool for_too_long(nfs4::nfsstat4 status, TimePoint now) {
    if (status != nfs4::NFS4ERR_GRACE) return now - delayed_since_ >= patience_.delay;
    delayed_since_ = now;
    return now - begun_ >= patience_.grace;
  }

 private:
  const Patience patience_;
  const TimePoint begun_;
  TimePoint delayed_since_;
};

}  // namespace nfsrdma::client
