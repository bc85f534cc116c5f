// The kernel's view of one file, as far as known: the version of its pages, the ranges where it may
// have any, the attributes, size and names it was told.
//
// Pages belong to one version of the file, that is one change attribute:
//
//                                           a change by another client: w, or v with another
//               set_pages(v)                size: doubt_pages()
//     unknown ---------------> of v, right -----------------------------------> of v, stale
//        ^                      |  ^    |                                           |
//        |                      |  |    | follow_pages(v, w): a change made here    |
//        |    forget_pages()    |  |    +--> of w, right                            |
//        +----------------------+  |                                                |
//                                  |   drop_begins(), drop_ends(all), set_pages(w)  |
//                                  +------------------------------------------------+
//
// It is not certain that the kernel takes in attributes and size:
//
//     attributes: nothing --advertised(c)--> c
//                 c       --advertised(d), asked--> d; not asked--> d, or still c
//     size:       nothing --advertised_size(n), the first--> n
//                 n       --advertised_size(m), wrote, read_end--> n or nothing
//                 any     --size_is(n): written, truncated, or read back from the kernel--> n
//                 any     --doubt_size()--> nothing
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "fuse/kernel/advertised_names.h"
#include "fuse/kernel/open_view.h"
#include "fuse/kernel/page_map.h"
#include "transport/base/reactor.h"

namespace nfsrdma::fuse {

/// One for each inode that the kernel knows; pure state, no orders (KernelCaches gives them).
/// Belongs to one shard.
class KernelView {
 public:
  /// Null while the file is not open here.
  std::shared_ptr<OpenView> open() const { return open_.lock(); }
  /// The same, made if there is none.
  std::shared_ptr<OpenView> opened(Reactor& reactor);

  /// Names in this directory that the kernel may believe; null when it was told none.
  AdvertisedNames* names() { return names_.get(); }
  /// See AdvertisedNames::advertise().
  void advertise_name(std::string_view name, AdvertisedNames::As as, std::uint64_t node = 0) {
    if (!names_) names_ = std::make_unique<AdvertisedNames>();
    names_->advertise(name, as, node);
  }

  /// Whether the kernel may show attributes of another version. The kernel takes in attributes when
  /// their caller runs again; until then it shows the old ones, unless it had asked because they
  /// were stale (GETATTR).
  bool knows_other_than(std::uint64_t change) const {
    return advertised_ && (unsure_ || advertised_change_ != change);
  }
  void advertised(std::uint64_t change, bool asked) {
    unsure_ = !asked && knows_other_than(change);
    advertised_change_ = change;
    advertised_ = true;
  }
  void forgot_attributes() {
    advertised_ = false;
    asks_again();
  }
  /// It is being told attributes that it need not ask for until then.
  void told_until(TimePoint end) { told_until_ = end; }
  /// It takes what it was told for out of date: after an order to drop pages or attributes, and
  /// when it has read, written or listed, which changes times.
  void asks_again() { told_until_ = {}; }
  /// A GETATTR now is for a program that must know (AT_STATX_FORCE_SYNC), or because what was told
  /// forbids something.
  bool asks_early(TimePoint now) const { return now < told_until_; }

  /// The size the kernel certainly has of the file; nothing when it is not known. Whether the
  /// kernel takes in a size that it is told is for it to decide, but for the first.
  const std::optional<std::uint64_t>& size() const { return size_; }
  void size_is(std::uint64_t size) {
    size_ = size;
    longest_ = least_size_ = size;
  }
  /// It does not know the inode any more.
  void forgot_size() {
    size_advertised_ = false;
    size_.reset();
    longest_ = least_size_ = 0;
  }
  /// It may have been kept from taking in a change of the size.
  void doubt_size() {
    size_.reset();
    least_size_ = 0;
  }
  /// Whether it may take the file for longer than this: it then reads on behind that end without
  /// asking for attributes, and shows zeros.
  bool may_read_beyond(std::uint64_t size) const { return longest_ > size; }
  /// The kernel takes the file to be no shorter than this: it has been told other sizes, and may
  /// have taken in any of them.
  std::uint64_t least_size() const { return least_size_; }
  /// It is being told this one with attributes.
  void advertised_size(std::uint64_t size);
  /// A read was answered up to here, where the file ended.
  void read_end(std::uint64_t end) {
    if (size_ && end < *size_) size_.reset();
    least_size_ = std::min(least_size_, end);
  }
  /// A write that ended here, by the kernel's reckoning, has been acknowledged. `alone`: its size
  /// is at least that now. A page that is written back leaves the size as it is, and of a direct
  /// write the kernel counts nothing after a part that has failed.
  void wrote(std::uint64_t end, bool alone);

  /// The change attribute that the kernel's cached pages of the file belong to.
  bool pages_match(std::uint64_t change) const { return pages_known_ && same_pages(change); }
  void set_pages(std::uint64_t change) { set_pages(change, doubts_); }
  /// The same of pages that were dropped after so many doubts().
  void set_pages(std::uint64_t change, std::uint32_t doubts) {
    pages_change_ = change;
    pages_doubts_ = doubts;
    pages_known_ = true;
  }
  /// The kernel may have cached pages of another version than this one.
  bool pages_stale(std::uint64_t change) const { return pages_known_ && !same_pages(change); }
  /// The file has changed, and its change attribute has not: pages so far are stale.
  void doubt_pages() { ++doubts_; }
  std::uint32_t doubts() const { return doubts_; }
  /// The kernel's pages are of no version known.
  void forget_pages() { pages_known_ = false; }
  /// A change made here led from one version to the next.
  void follow_pages(std::uint64_t before, std::uint64_t after);

  /// Where the pages end that the kernel may have up to date: it has read them, or written the
  /// whole of them. A page that it has only written a part of it does not keep, and has locked
  /// meanwhile.
  std::uint64_t pages_end() const { return pages_end_; }
  /// The kernel may have pages of these bytes from now on.
  void pages_cached(PageRange bytes);
  /// Where it may have any.
  const PageMap& pages() const { return pages_; }

  /// Stale pages are being dropped.
  bool dropping_pages() const { return dropping_pages_; }
  void set_dropping_pages(bool dropping) { dropping_pages_ = dropping; }
  /// Some pages are being dropped, until they are gone or the drop has failed. A drop up to
  /// PageRange::all().end leaves no pages behind it.
  void drop_begins();
  void drop_ends(PageRange dropped);
  void drop_ends_unseen() { --drops_; }
  /// An open was answered with the order to drop the pages. The kernel follows it when the opener
  /// runs again; until a request shows that it has, other openers of the file get the same order.
  void pages_to_be_dropped() { ++unconfirmed_drops_; }
  void pages_dropped() { --unconfirmed_drops_; }
  bool drops_unconfirmed() const { return unconfirmed_drops_ > 0; }
  /// The same, or an order of this program is on its way.
  bool may_be_dropping() const { return drops_ > 0 || unconfirmed_drops_ > 0; }

 private:
  bool same_pages(std::uint64_t change) const {
    return pages_change_ == change && pages_doubts_ == doubts_;
  }

  std::uint64_t pages_change_ = 0;
  std::uint64_t pages_end_ = 0;
  std::uint64_t pages_end_since_drop_ = 0;  ///< counted from the begin of the first drop in flight
  PageMap pages_;
  std::uint64_t advertised_change_ = 0;
  TimePoint told_until_{};
  std::optional<std::uint64_t> size_;
  std::uint64_t longest_ = 0;     ///< of the sizes that the kernel may have
  std::uint64_t least_size_ = 0;  ///< the same
  std::weak_ptr<OpenView> open_;
  std::unique_ptr<AdvertisedNames> names_;
  std::uint32_t doubts_ = 0;
  std::uint32_t pages_doubts_ = 0;  ///< doubts_ when the pages were last known to be right
  std::uint32_t unconfirmed_drops_ = 0;
  std::uint32_t drops_ = 0;  ///< in flight
  bool pages_known_ = false;
  bool dropping_pages_ = false;
  bool advertised_ = false;
  bool unsure_ = false;
  bool size_advertised_ = false;  ///< since the kernel knows the inode
};

}  // namespace nfsrdma::fuse
