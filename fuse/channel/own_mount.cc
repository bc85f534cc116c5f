#include "fuse/channel/own_mount.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <charconv>
#include <set>

namespace nfsrdma::fuse {
namespace {

struct Identity {
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  std::uint64_t id = 0;
  bool is_root = true;  ///< of a mount; true where the kernel does not tell
};

/// Asking for nothing in particular makes no request, and is permitted where allow_other is not
/// set: the kernel knows these fields by itself.
bool look_at(const char* path, Identity& found) {
  struct statx status {};
  constexpr int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC;
  if (::statx(AT_FDCWD, path, flags, 0, &status) != 0) return false;
  found.major = status.stx_dev_major;
  found.minor = status.stx_dev_minor;
  found.is_root =
      ((status.stx_attributes_mask & ~status.stx_attributes) & STATX_ATTR_MOUNT_ROOT) == 0;
  // Since Linux 5.8; before, the device number has to do.
  if ((status.stx_mask & STATX_MNT_ID) != 0) found.id = status.stx_mnt_id;
  return true;
}

bool is_device(std::string_view text, const Identity& found) {
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  const char* const end = text.data() + text.size();
  const auto colon = std::from_chars(text.data(), end, major);
  if (colon.ec != std::errc() || colon.ptr == end) return false;
  const auto last = std::from_chars(colon.ptr + 1, end, minor);
  return last.ec == std::errc() && major == found.major && minor == found.minor;
}

bool is_fuse(std::string_view type) { return type == "fuse" || type.starts_with("fuse."); }

const MountEntry* find_own(const OwnMount& mount, const std::vector<MountEntry>& table) {
  const MountEntry* found = nullptr;
  for (const auto& entry : table) {
    if (entry.device != mount.device) continue;
    if (mount.id != 0 && entry.id == mount.id) return &entry;
    if (mount.id == 0 && (!found || entry.mount_point == mount.path)) found = &entry;
  }
  return found;
}

std::string words_for(const MountEntry& entry) { return entry.type + " on " + entry.mount_point; }

/// Everything that hangs below a mount and is not of its own file system. Moved mounts may stand
/// before their parents in the table.
std::string others_below(const MountEntry& own, const std::vector<MountEntry>& table) {
  std::set<std::uint64_t> tree = {own.id};
  std::string others;
  for (std::size_t known = 0; known != tree.size();) {
    known = tree.size();
    for (const auto& entry : table) {
      if (!tree.contains(entry.parent) || !tree.insert(entry.id).second) continue;
      if (entry.device == own.device) continue;
      others += (others.empty() ? "" : ", ") + words_for(entry);
    }
  }
  return others;
}

}  // namespace

OwnMount identify_mount(const std::string& path) {
  OwnMount mount{path, {}, 0};
  const auto entry = find_mount(path);
  Identity found;
  if (!look_at(path.c_str(), found) || !found.is_root) return mount;
  if (entry && (!is_fuse(entry->type) || !is_device(entry->device, found))) return mount;
  mount.device = std::to_string(found.major) + ':' + std::to_string(found.minor);
  mount.id = found.id;
  return mount;
}

bool lies_at(const OwnMount& mount, const char* path) {
  Identity found;
  if (!mount.known() || !look_at(path, found) || !is_device(mount.device, found)) return false;
  return mount.id == 0 || found.id == mount.id;
}

MountPlace place_of(const OwnMount& mount, const std::vector<MountEntry>& table) {
  using State = MountPlace::State;
  if (!mount.known()) return {};
  if (table.empty()) return {State::free, mount.path, {}};
  const MountEntry* own = find_own(mount, table);
  if (!own) return {};
  for (const auto& entry : table) {
    const bool on_top = entry.parent == own->id && entry.mount_point == own->mount_point;
    if (on_top && &entry != own) return {State::covered, own->mount_point, words_for(entry)};
  }
  std::string others = others_below(*own, table);
  const State state = others.empty() ? State::free : State::used;
  return {state, own->mount_point, std::move(others)};
}

}  // namespace nfsrdma::fuse
