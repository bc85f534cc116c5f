// Names of a directory that the kernel was told and may still believe, and the files they lead to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace nfsrdma::fuse {

/// Belongs to one directory. Doubtful names are taken out, for the kernel to look up again. Beyond
/// kMost names, the kernel believes the rest for their whole lifetime.
class AdvertisedNames {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 16;

  enum class As : std::uint8_t { there, missing };

  /// `node`: the kernel's number of the file that the name leads to; 0: not known.
  void advertise(std::string_view name, As as, std::uint64_t node = 0) {
    std::string key(name);
    if (names_.size() >= kMost && !names_.contains(key)) return;
    names_.insert_or_assign(std::move(key), Advertised{as, listing_, node});
  }
  /// The node that the kernel takes the name for, 0 when it takes it for missing. Empty: the kernel
  /// was told nothing, or the name may lead elsewhere by now.
  std::optional<std::uint64_t> node(const std::string& name) const {
    const auto found = names_.find(name);
    if (found == names_.end()) return std::nullopt;
    const Advertised& advertised = found->second;
    if (advertised.as == As::there && advertised.node == 0) return std::nullopt;
    return advertised.node;
  }
  /// The kernel does not believe it any more.
  void forget(const std::string& name) { names_.erase(name); }
  /// The same if this is the node that it leads to.
  void forget(const std::string& name, std::uint64_t node) {
    const auto found = names_.find(name);
    if (found != names_.end() && found->second.node == node) names_.erase(found);
  }
  /// It is no longer known where the name leads.
  void unsure(const std::string& name) {
    const auto found = names_.find(name);
    if (found != names_.end()) found->second = Advertised{As::there, found->second.listing, 0};
  }
  /// The directory is something else than it was: takes out all.
  std::vector<std::string> doubt_all() {
    std::vector<std::string> names;
    names.reserve(names_.size());
    for (auto& [name, advertised] : names_) names.push_back(name);
    names_.clear();
    return names;
  }

  /// The node is something else than it was: takes out the names that lead to it.
  std::vector<std::string> doubt(std::uint64_t node) {
    std::vector<std::string> names;
    for (const auto& [name, advertised] : names_) {
      if (advertised.as == As::there && advertised.node == node) names.push_back(name);
    }
    for (const std::string& name : names) names_.erase(name);
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
  struct Advertised {
    As as = As::there;
    std::uint32_t listing = 0;  ///< the last one that had begun when it was told, or had it
    std::uint64_t node = 0;     ///< that it leads to; 0: not known, or missing
  };

  std::unordered_map<std::string, Advertised> names_;
  std::uint32_t listing_ = 0;
};

}  // namespace nfsrdma::fuse
