// Names of a directory that the kernel was told and may still believe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace nfsrdma::fuse {

/// Belongs to one directory. What turns out to be doubtful is taken out: the kernel is to look it
/// up again. Of more than kMost names the rest is believed as long as the kernel was told.
class AdvertisedNames {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 16;

  enum class As : std::uint8_t { there, missing };

  void tell(std::string_view name, As as) {
    if (names_.size() >= kMost) return;
    names_.insert_or_assign(std::string(name), Told{as, listing_});
  }
  /// The directory is something else than it was: takes out all.
  std::vector<std::string> doubt_all() {
    std::vector<std::string> names;
    names.reserve(names_.size());
    for (auto& [name, told] : names_) names.push_back(name);
    names_.clear();
    return names;
  }

  /// A listing from the begin of the directory to its end: begin, every name, end.
  void listing_begins() { ++listing_; }
  /// Whether the kernel was told that it is missing: takes it out.
  bool listed(const std::string& name) {
    const auto found = names_.find(name);
    if (found == names_.end()) return false;
    found->second.listing = listing_;
    if (found->second.as == As::there) return false;
    names_.erase(found);
    return true;
  }
  /// Takes out the names that were told before the listing as being there, and are not in it.
  std::vector<std::string> listing_ends() {
    std::vector<std::string> gone;
    for (auto at = names_.begin(); at != names_.end();) {
      const bool absent = at->second.as == As::there && at->second.listing != listing_;
      if (absent) gone.push_back(at->first);
      at = absent ? names_.erase(at) : std::next(at);
    }
    return gone;
  }

 private:
  struct Told {
    As as = As::there;
    std::uint32_t listing = 0;  ///< the last one that had begun when it was told, or had it
  };

  std::unordered_map<std::string, Told> names_;
  std::uint32_t listing_ = 0;
};

}  // namespace nfsrdma::fuse
