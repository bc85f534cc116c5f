// A file as the kernel knows it: its number, and the kernel's view of it.
#pragma once

#include <optional>
#include <string_view>
#include <utility>

#include "cache/file/inode.h"
#include "cache/file/open.h"
#include "fuse/kernel/kernel_view.h"

namespace nfsrdma::fuse {

class InodeTable;

/// Owned by the InodeTable; exists while the kernel counts a lookup of it or an InodeRef names it.
class Inode final : public cache::Inode {
 public:
  Inode(InodeTable& table, std::uint64_t id, const client::FileHandle& handle)
      : cache::Inode(handle), table_(table), id_(id) {}

  /// The kernel's name for it (fuse_in_header::nodeid).
  std::uint64_t id() const { return id_; }
  KernelView& view() { return view_; }
  const KernelView& view() const { return view_; }
  /// The kernel certainly has the size that stat(2) is shown.
  bool size_is_shown() const { return view_.size() == size(); }
  /// The kernel may take the file for longer than it is. After an open that is not mended by
  /// itself: a read ends at the size that the kernel has, which asks for attributes behind that
  /// only.
  bool size_is_too_large() const { return view_.may_read_beyond(size()); }
  /// The kernel may have pages of another version than the remembered attributes are of, as far as
  /// is known. While a write of this mount is in flight, a change is most likely its doing; its
  /// reply will tell.
  bool pages_outdated() const {
    const auto open = cache::Inode::open();
    const bool writing = open && open->gate.shared();
    return !writing && view_.pages_stale(attributes().value().change);
  }
  /// By which name the kernel has come here last. It goes on opening the file by it for as long as
  /// it remembers the name. Of regular files only.
  const std::optional<cache::NameIn>& name() const { return name_; }
  void led_by(cache::InodeRef directory, std::string_view name);
  void forget_name() { name_.reset(); }
  /// The same if it is this one: it has been removed, or is another file's.
  void forget_name(const cache::Inode& directory, std::string_view name);
  /// A request has named it.
  void use() { used_ = true; }
  /// Whether one has since the last call.
  bool take_used() { return std::exchange(used_, false); }
  /// The kernel alone keeps it: no operation is under way, no file is open, no name of a file that
  /// the kernel knows is in it.
  bool kept_by_kernel() const { return !referenced() && !cache::Inode::open(); }
  /// The kernel may be about to send a WRITE of pages that are being dropped.
  void watch_writes();

 private:
  friend class InodeTable;
  void unused() override;

  InodeTable& table_;
  const std::uint64_t id_;
  bool used_ = false;
  KernelView view_;
  std::optional<cache::NameIn> name_;
};

/// Keeps an Inode from going while an operation uses it.
using InodeRef = boost::intrusive_ptr<Inode>;

/// All of a mount's inodes are made by its InodeTable.
inline Inode& with_view(cache::Inode& inode) { return static_cast<Inode&>(inode); }
inline InodeRef with_view(const cache::InodeRef& inode) {
  return boost::static_pointer_cast<Inode>(inode);
}

}  // namespace nfsrdma::fuse
