// Whether the pages of an open directory make one listing of the whole of it, as of one version.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "cache/dir/listed_names.h"
#include "client/requests/readdir.h"

namespace nfsrdma::cache {

/// Belongs to one open directory. Each READDIR tells the directory's change attribute first: when
/// it is the same for all pages, every name that the directory had in that version is in one of
/// them.
class WholeListing {
 public:
  /// `names`: empty, for the listing that begins.
  void begin(std::unique_ptr<ListedNames> names) {
    names_ = std::move(names);
    change_.reset();
    next_ = 0;
  }

  /// The page that a READDIR from `cookie` gave. Returns the names when it was the last one.
  std::unique_ptr<ListedNames> add(std::uint64_t cookie, const client::DirectoryPage& page) {
    if (!names_) return {};
    if (cookie == 0) change_ = page.change;
    if (cookie != next_ || !page.change || page.change != change_ ||
        names_->size() + page.entries.size() > kMost) {
      names_.reset();
      return {};
    }
    for (const client::Entry& entry : page.entries) names_->add(entry.name);
    next_ = page.last_cookie;
    return page.eof ? std::move(names_) : nullptr;
  }
  std::uint64_t change() const { return change_.value_or(0); }

 private:
  /// Names of a directory; of a longer one no listing is kept.
  static constexpr std::size_t kMost = std::size_t{1} << 17;

  std::unique_ptr<ListedNames> names_;  ///< so far; null: there is no whole listing
  std::optional<std::uint64_t> change_;
  std::uint64_t next_ = 0;  ///< the cookie that the next page has to follow
};

}  // namespace nfsrdma::cache
