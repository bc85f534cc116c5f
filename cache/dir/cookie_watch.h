// Whether the cookies of a directory that is being read lead on (RFC 8881 section 18.23.4). A
// server whose cookies are equal, or go round, would have its directory listed for ever.
#pragma once

#include <cstdint>
#include <span>

#include "client/requests/readdir.h"

namespace nfsrdma::cache {

/// Needs the same memory for a directory of any length: Brent's algorithm over the cookies at which
/// pages end, so that a circle is noticed after less than three times its length. Belongs to one
/// open directory.
class CookieWatch {
 public:
  /// The page that a READDIR from cookie `from` gave. False when going on from it would lead to
  /// entries that were there before.
  bool follow(std::uint64_t from, std::span<const client::Entry> entries);
  /// The directory is read from its beginning.
  void restart() { *this = {}; }

 private:
  void begin_at(std::uint64_t from);

  std::uint64_t end_ = 0;          ///< where the last page ended
  std::uint64_t earlier_end_ = 0;  ///< an end of some earlier page, which must not come again
  std::uint64_t pages_ = 0;        ///< since `earlier_end_` was kept
  std::uint64_t limit_ = 1;        ///< after so many pages the present end is kept instead
};

}  // namespace nfsrdma::cache
