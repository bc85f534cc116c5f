// The position of one open directory: the page of entries the server sent last, of which FUSE takes
// a few at a time, and the cookie and verifier to continue with (RFC 8881 section 18.23).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "cache/attr/cached_attributes.h"
#include "cache/dir/cookie_watch.h"
#include "client/requests/readdir.h"

namespace nfsrdma::cache {

/// Serves entries in the order of their cookies. `off` of readdir(3) is the NFS cookie, so that a
/// place stays valid when the page that had it is gone; offsets 1 and 2 follow "." and "..", which
/// servers do not list and whose numbers they do not use as cookies. Belongs to one open directory.
class DirectoryStream {
 public:
  static constexpr std::uint64_t kAfterDot = 1;
  static constexpr std::uint64_t kAfterDotDot = 2;

  /// Entries of the kept page that follow `cookie`, without a request. Empty when the next READDIR
  /// has to start there, or at the end.
  std::span<const client::Entry> following(std::uint64_t cookie);
  /// Nothing comes after `cookie`; known only if the kept page ends the directory.
  bool ends_after(std::uint64_t cookie) const;

  /// When the present page was asked for.
  struct Asked {
    std::uint64_t cookie = 0;
    Issue issue;              ///< orders its attributes among others
    std::uint32_t epoch = 0;  ///< how often this client had changed the directory by then
  };
  /// Keeps the answer to a READDIR instead of the present page. False, and the present one stays,
  /// when its cookies lead back to where this stream was before.
  bool replace(const Asked& asked, client::DirectoryPage page);
  /// Start over: the next entries come from the server, with a new verifier.
  void rewind();

  /// The kept page; empty when there is none.
  const client::DirectoryPage& page() const { return page_; }
  const nfs4::verifier4& verifier() const { return page_.verifier; }
  void forget_verifier() { page_.verifier = {}; }
  const Asked& asked() const { return asked_; }

 private:
  client::DirectoryPage page_;
  CookieWatch watch_;
  Asked asked_;
  std::size_t next_ = 0;  ///< where `following` will most likely be asked for
};

}  // namespace nfsrdma::cache
