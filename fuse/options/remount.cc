#include "fuse/options/remount.h"

#include <sys/mount.h>

#include <algorithm>
#include <string_view>

#include "fuse/options/option_table.h"

namespace nfsrdma::fuse {
namespace {

struct FlagWord {
  std::string_view word;
  unsigned long set = 0;
  unsigned long cleared = 0;
};

/// mount(8) has no other flags that a FUSE mount knows. Of access times the kernel keeps what it
/// has without a word, and knows itself which of two words holds.
constexpr FlagWord kFlagWords[] = {
    {"rw", 0, MS_RDONLY},
    {"ro", MS_RDONLY},
    {"suid", 0, MS_NOSUID},
    {"nosuid", MS_NOSUID},
    {"dev", 0, MS_NODEV},
    {"nodev", MS_NODEV},
    {"exec", 0, MS_NOEXEC},
    {"noexec", MS_NOEXEC},
    {"atime", MS_RELATIME, MS_NOATIME},
    {"noatime", MS_NOATIME},
    {"diratime", 0, MS_NODIRATIME},
    {"nodiratime", MS_NODIRATIME},
    {"relatime", MS_RELATIME},
    {"norelatime", 0, MS_RELATIME},
    {"strictatime", MS_STRICTATIME},
    {"nostrictatime", 0, MS_STRICTATIME},
    {"remount", MS_REMOUNT},
};

bool without_effect(const std::string& item) {
  const auto* spec = find_option(item.substr(0, item.find('=')));
  return spec && spec->kind == OptionKind::ignored;
}

}  // namespace

std::optional<Remount> remount_of(const std::vector<std::string>& items) {
  Remount remount;
  for (const auto& item : items) {
    const auto* flag = std::ranges::find(kFlagWords, item, &FlagWord::word);
    if (flag != std::end(kFlagWords)) {
      remount.flags = (remount.flags & ~flag->cleared) | flag->set;
    } else if (!item.empty() && !without_effect(item)) {
      remount.others.push_back(item);
    }
  }
  if ((remount.flags & MS_REMOUNT) == 0) return std::nullopt;
  return remount;
}

}  // namespace nfsrdma::fuse
