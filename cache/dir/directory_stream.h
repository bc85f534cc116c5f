// The position of one open directory: the pages of entries the server sent last, of which FUSE
// takes a few at a time, and the cookie and verifier to continue with (RFC 8881 section 18.23).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <utility>

#include "cache/attr/cached_attributes.h"
#include "cache/dir/cookie_watch.h"
#include "client/requests/readdir.h"

namespace nfsrdma::cache {

/// Serves entries in the order of their cookies. Places are cookies here; a program knows them by
/// other numbers (DirectoryPlaces). Belongs to one open directory.
class DirectoryStream {
 public:
  /// Pages that are kept beside the present one, about 300 KiB each, for programs that go back
  /// (seekdir(3)).
  static constexpr std::size_t kMostKept = 3;

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
  /// Makes the answer to a READDIR the present page. False, and the present one stays, when its
  /// cookies lead back to where this stream was before.
  bool replace(const Asked& asked, client::DirectoryPage page);
  /// Makes the page that has the entries after `cookie`, or ends there, the present one, if it was
  /// kept and usable(const Asked&) says that it is good enough. False: there is none.
  template <class Usable>
  bool turn_back(std::uint64_t cookie, Usable&& usable) {
    for (Kept& kept : kept_) {
      if (!usable(kept.asked) || !continues(kept, cookie)) continue;
      std::swap(page_, kept.page);
      std::swap(asked_, kept.asked);
      next_ = 0;
      return true;
    }
    return false;
  }
  /// Such a page is kept, whether it is usable or not.
  bool keeps(std::uint64_t cookie) const {
    return std::ranges::any_of(kept_, [&](const Kept& kept) { return continues(kept, cookie); });
  }
  /// A READDIR from `cookie` goes on where the present page ends.
  bool goes_on_at(std::uint64_t cookie) const { return cookie == end_of(page_, asked_); }
  /// Start over: the next entries come from the server, with a new verifier.
  void rewind();

  /// The kept page; empty when there is none.
  const client::DirectoryPage& page() const { return page_; }
  const nfs4::verifier4& verifier() const { return page_.verifier; }
  void forget_verifier() { page_.verifier = {}; }
  const Asked& asked() const { return asked_; }

 private:
  /// A page that was the present one before.
  struct Kept {
    client::DirectoryPage page;
    Asked asked;
  };
  static std::uint64_t end_of(const client::DirectoryPage& page, const Asked& asked) {
    return page.entries.empty() ? asked.cookie : page.entries.back().cookie;
  }
  static bool continues(const Kept& kept, std::uint64_t cookie);

  std::deque<Kept> kept_;  ///< the oldest first
  client::DirectoryPage page_;
  CookieWatch watch_;
  Asked asked_;
  std::size_t next_ = 0;  ///< where `following` will most likely be asked for
};

}  // namespace nfsrdma::cache
