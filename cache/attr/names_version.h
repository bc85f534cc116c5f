// Which version of a directory the names that are shown belong to, after changes made here.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "cache/attr/own_changes.h"
#include "client/proto/object.h"

namespace nfsrdma::cache {

/// Belongs to one directory. Names stay believed through changes made here, and are doubted when
/// the server shows a version that those do not lead to: another client has changed names, too.
class NamesVersion {
 public:
  /// A name changed here. If the change_info4 is not atomic, other clients may have changed names
  /// meanwhile: the next version that the server shows is then taken for ours.
  void changed_here(const client::NameChange& change) {
    if (!change || !change->atomic) {
      unsure_ = true;
      return;
    }
    if (!own_) own_ = std::make_unique<OwnChanges>();
    version_ = own_->follow(version_, change->before, change->after);
  }
  /// The server shows the change attribute `version`. True when others have changed names.
  bool shown(std::uint64_t version) {
    const bool sure = !std::exchange(unsure_, false);
    return std::exchange(version_, version) != version && sure;
  }

 private:
  std::uint64_t version_ = 0;
  bool unsure_ = false;
  std::unique_ptr<OwnChanges> own_;  ///< from the first change made here
};

}  // namespace nfsrdma::cache
