// What this client knows of one file: the kernel's inode number, the server's handle, attributes.
#pragma once

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "cache/attr/cached_attributes.h"
#include "client/proto/object.h"
#include "fuse/inode/advertised_names.h"
#include "fuse/inode/page_map.h"

namespace nfsrdma::fuse {

class InodeTable;
class OpenInode;

/// Owned by the InodeTable; exists while the kernel counts a lookup of it or an InodeRef names it.
class Inode {
 public:
  Inode(InodeTable& table, std::uint64_t id, const client::FileHandle& handle)
      : table_(table), id_(id), handle_(handle) {}
  Inode(const Inode&) = delete;
  Inode& operator=(const Inode&) = delete;

  /// The kernel's name for it (fuse_in_header::nodeid).
  std::uint64_t id() const { return id_; }
  const client::FileHandle& handle() const { return handle_; }

  cache::CachedAttributes& attributes() { return attributes_; }
  const cache::CachedAttributes& attributes() const { return attributes_; }
  bool is_directory() const;

  /// Set while the file is open here (fuse/inode/open_inode.h).
  std::shared_ptr<OpenInode> open() const { return open_.lock(); }
  void set_open(const std::shared_ptr<OpenInode>& open) { open_ = open; }

  /// How often this client itself changed the names in this directory.
  std::uint32_t epoch() const { return epoch_; }
  void count_change() { ++epoch_; }

  /// Names in this directory that the kernel may believe; null when it was told none.
  AdvertisedNames* names() { return names_.get(); }
  void tell_name(std::string_view name, AdvertisedNames::As as) {
    if (!names_) names_ = std::make_unique<AdvertisedNames>();
    names_->tell(name, as);
  }
  /// The directory's change attribute is another one than before: whether this client has changed
  /// it since it was asked this the last time.
  bool changed_by_us() { return std::exchange(seen_epoch_, epoch_) != epoch_; }

  /// The fileid of a directory's parent, as of the last lookup; 0 when not known.
  std::uint64_t parent_fileid() const { return parent_fileid_; }
  void set_parent_fileid(std::uint64_t fileid) { parent_fileid_ = fileid; }

  /// Whether the kernel may show attributes of another version. It takes attributes in when the
  /// caller they are for runs again; until then it shows what it had, unless it had asked because
  /// that was out of date (GETATTR).
  bool kernel_knows_other_than(std::uint64_t change) const {
    return told_ && (unsure_ || told_change_ != change);
  }
  void told_kernel(std::uint64_t change, bool asked) {
    unsure_ = !asked && kernel_knows_other_than(change);
    told_change_ = change;
    told_ = true;
  }
  void kernel_forgot() { told_ = false; }

  /// The size the kernel certainly has of the file; nothing when it is not known. Whether the
  /// kernel takes in a size that it is told is for it to decide, but for the first.
  const std::optional<std::uint64_t>& kernel_size() const { return kernel_size_; }
  void kernel_size_is(std::uint64_t size) { kernel_size_ = size; }
  void kernel_knows_no_size() {
    size_told_ = false;
    kernel_size_.reset();
  }
  /// It is being told this one with attributes.
  void kernel_told_size(std::uint64_t size);
  /// A read was answered up to here, where the file ended.
  void kernel_read_end(std::uint64_t end) {
    if (kernel_size_ && end < *kernel_size_) kernel_size_.reset();
  }
  /// A write that ended here, by the kernel's reckoning, has been acknowledged.
  void kernel_wrote(std::uint64_t end) {
    if (kernel_size_ && end > *kernel_size_) kernel_size_ = end;
  }

  /// The change attribute that the kernel's cached pages of the file belong to.
  bool pages_match(std::uint64_t change) const { return pages_known_ && pages_change_ == change; }
  void set_pages(std::uint64_t change) {
    pages_change_ = change;
    pages_known_ = true;
  }
  /// The kernel may have cached pages of another version than this one.
  bool pages_stale(std::uint64_t change) const { return pages_known_ && pages_change_ != change; }
  /// They are being dropped.
  bool dropping_pages() const { return dropping_pages_; }
  void set_dropping_pages(bool dropping) { dropping_pages_ = dropping; }
  /// The kernel's pages are of no version known.
  void forget_pages() { pages_known_ = false; }
  /// Where the pages end that the kernel may have up to date: it has read them, or written the
  /// whole of them. A page that it has only written a part of it does not keep, and has locked
  /// meanwhile.
  std::uint64_t pages_end() const { return pages_end_; }
  /// The kernel may have pages of these bytes from now on.
  void pages_cached(PageRange bytes);
  /// Where it may have any.
  const PageMap& pages() const { return pages_; }
  /// Some are being dropped, until they are gone or that is not known. What is dropped up to
  /// PageRange::all().end has no pages behind it.
  void drop_begins();
  void drop_ends(PageRange dropped);
  void drop_ends_unseen() { --drops_; }
  /// The kernel may be about to send a WRITE of pages that are being dropped.
  void watch_writes();
  /// An open was answered with the order to drop the pages. The kernel follows it when the opener
  /// runs again; until a request shows that it has, others who open the file get the same order.
  void pages_to_be_dropped() { ++unconfirmed_drops_; }
  void pages_dropped() { --unconfirmed_drops_; }
  bool drops_in_flight_set() const { return unconfirmed_drops_ > 0; }
  /// The same, or an order of this program is on its way.
  bool may_be_dropping() const { return drops_ > 0 || unconfirmed_drops_ > 0; }
  /// A change made here led from one version to the next.
  void follow_pages(std::uint64_t before, std::uint64_t after);

 private:
  friend class InodeTable;
  friend void intrusive_ptr_add_ref(Inode* inode) { ++inode->references_; }
  friend void intrusive_ptr_release(Inode* inode);

  InodeTable& table_;
  const std::uint64_t id_;
  std::uint64_t lookups_ = 0;  ///< as the kernel counts them
  std::uint64_t pages_change_ = 0;
  std::uint64_t pages_end_ = 0;
  std::uint64_t pages_end_since_drop_ = 0;  ///< counted from the begin of the first drop under way
  PageMap pages_;
  std::uint64_t told_change_ = 0;
  std::uint64_t parent_fileid_ = 0;
  Inode* hash_next_ = nullptr;
  std::weak_ptr<OpenInode> open_;
  std::unique_ptr<AdvertisedNames> names_;
  std::uint32_t references_ = 0;
  std::uint32_t epoch_ = 0;
  std::uint32_t seen_epoch_ = 0;
  std::uint32_t unconfirmed_drops_ = 0;
  std::uint32_t drops_ = 0;  ///< under way
  bool pages_known_ = false;
  bool dropping_pages_ = false;
  bool told_ = false;
  bool unsure_ = false;
  bool hashed_ = false;
  bool size_told_ = false;  ///< since the kernel knows the inode
  std::optional<std::uint64_t> kernel_size_;
  cache::CachedAttributes attributes_;
  const client::FileHandle handle_;
};

void intrusive_ptr_release(Inode* inode);

/// Keeps an Inode from going while an operation uses it.
using InodeRef = boost::intrusive_ptr<Inode>;

}  // namespace nfsrdma::fuse
