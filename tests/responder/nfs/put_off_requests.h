// Requests for attributes that wait for the holder of a write delegation (RFC 8881 section 10.4.3).
#pragma once

#include <cstdint>
#include <unordered_map>

#include "tests/responder/nfs/fs/file_stat.h"
#include "transport/base/reactor.h"

namespace nfsrdma::responder {

/// Requests that were put off with NFS4ERR_DELAY come again, with another XID and slot, after
/// pauses of up to 15 s. The holder's answers since then serve them, however many others they have
/// served: with one answer for the first that comes, a client that asks every second would starve
/// one that comes seldom. Belongs to the reactor's thread.
class PutOffRequests {
 public:
  /// Longer than a client waits before it comes again.
  static constexpr Duration kStarved = std::chrono::seconds(20);
  /// Those that have not come again for so long have been given up by their clients.
  static constexpr Duration kKept = std::chrono::minutes(1);

  /// Something is known of a file now: its holder has answered, or there is none any more.
  void note_known(const InodeKey& file);
  /// Whether something has become known since `request` (Request::identity) was put off; it is on
  /// the list no more then. Otherwise it is put off, now or once more.
  bool is_served(const InodeKey& file, std::uint64_t request, TimePoint now);
  /// Whether a request has lately come again for another file: a name that leads to a new file each
  /// time, whose maker has a write delegation of it. No answer about one file serves the next, so
  /// none is to be delegated for writing for a while.
  bool any_starves(TimePoint now) const { return now < starved_until_; }
  /// Forgets requests older than kKept; false when none is left.
  bool sweep(TimePoint now);

 private:
  struct Waiting {
    std::uint64_t since = 0;  ///< by moments_
    TimePoint last;
  };
  struct Watched {
    std::uint64_t known = 0;  ///< by moments_
    std::unordered_multimap<std::uint64_t, Waiting> waiting;
  };

  std::unordered_map<InodeKey, Watched, InodeKeyHash> files_;
  bool waits_for_another(std::uint64_t request) const;

  TimePoint starved_until_{};
  std::uint64_t moments_ = 0;  // a clock in which no two events are at once
};

}  // namespace nfsrdma::responder
