// Which names a directory lacks, after all of them have been listed.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "cache/attr/names_version.h"
#include "transport/base/intrusive_list.h"
#include "transport/base/reactor.h"

namespace nfsrdma::cache {

/// The number of names in all ListedNames of a mount.
struct ListedTotal {
  std::size_t directories = 0;
  std::size_t names = 0;
};

/// All names of one directory, without the letter case and as hashes: a name that another one looks
/// like is not known to be missing. Names that are removed stay, and so are asked for. As a list
/// node it stands among those of the mount, the one that was listed least recently first. Belongs
/// to one shard.
class ListedNames : public ListNode {
 public:
  /// Those that `uid` lists: servers may hide names from other users.
  ListedNames(std::shared_ptr<ListedTotal> total, std::uint32_t uid)
      : total_(std::move(total)), uid_(uid) {
    ++total_->directories;
  }
  /// Those of a directory that has been made just now: none.
  explicit ListedNames(std::shared_ptr<ListedTotal> total) : total_(std::move(total)) {
    ++total_->directories;
  }
  ~ListedNames() { forget(); }

  void add(std::string_view name);
  /// Nothing is known of the directory any more.
  void forget();
  std::size_t size() const { return sorted_.size() + added_.size(); }
  /// Whether `uid` is certain not to find this name. Never of a name that the server may find
  /// without listing it: one that is not plain ASCII (it may be there in another form), a very long
  /// one (which may be an error), or that of a hidden directory of snapshots.
  bool lacks(std::string_view name, std::uint32_t uid);

  /// The longest time for which an absence is used that no request proves.
  static constexpr Duration kLongest = std::chrono::milliseconds(200);

  /// They are complete, and of this version, as the server has answered a request sent at `time`.
  /// `lasting`: any later change by others shows another version. Many servers make versions from
  /// clocks that tick slowly, so that a change soon after another may show the same version. Then
  /// the version proves nothing later.
  void complete(std::uint64_t version, TimePoint time, bool lasting) {
    version_.shown(version);
    begin_row(version, time);
    lasting_ = lasting;
  }
  /// A name changed here, by a request sent at `time`.
  void changed_here(const client::NameChange& change, TimePoint time = {}) {
    version_.changed_here(change);
    lasting_ = false;
    follow(change, time);
  }
  /// The server shows the directory in this version, in answer to a request sent at `time`. False:
  /// these are not the names of it.
  bool shown(std::uint64_t version, TimePoint time);
  /// When the server was last asked, and the names were these.
  TimePoint proven_at() const { return proven_at_; }
  /// How much longer an absence may be used; zero or less: not at all. `moment`: how long that is
  /// after the last sign that nobody else has changed the directory.
  Duration remaining(TimePoint now, Duration moment) const {
    return std::min(shown_at_ + moment, proven_at_ + kLongest) - now;
  }

 private:
  void merge();
  void begin_row(std::uint64_t version, TimePoint time) {
    proven_at_ = shown_at_ = time;
    row_end_ = version;
    unbroken_ = true;
  }
  /// One change here that begins at the version where the one before has ended is a sign that there
  /// was none by others between them. It proves none: without `atomic` one may lie within the own
  /// change (RFC 8881 section 3.3.3), and with a slow clock one may have the same version.
  void follow(const client::NameChange& change, TimePoint time) {
    unbroken_ = unbroken_ && change && change->before == row_end_;
    if (!unbroken_) return;
    row_end_ = change->after;
    shown_at_ = std::max(shown_at_, time);
  }

  NamesVersion version_;
  std::shared_ptr<ListedTotal> total_;
  std::vector<std::uint64_t> sorted_;
  std::vector<std::uint64_t> added_;  ///< since they were sorted
  TimePoint proven_at_{};
  TimePoint shown_at_{};  ///< the last sign: of a row of changes made here since it was proven
  std::uint64_t row_end_ = 0;
  bool unbroken_ = false;
  std::optional<std::uint32_t> uid_;
  bool lasting_ = false;
  bool forgotten_ = false;
};

}  // namespace nfsrdma::cache
