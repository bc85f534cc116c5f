// What `mount -o remount` asks for.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace nfsrdma::fuse {

/// The list of mount(8) for a remount: the kernel does some of its words, and this program none.
struct Remount {
  unsigned long flags = 0;          ///< of mount(2), MS_REMOUNT among them
  std::vector<std::string> others;  ///< words that are no flags: as it was mounted, or changed
};

/// Nothing if "remount" is not in the list. Of two words that contradict each other the later one
/// holds. Words for other programs (x-...) and those without effect are left out.
std::optional<Remount> remount_of(const std::vector<std::string>& items);

}  // namespace nfsrdma::fuse
