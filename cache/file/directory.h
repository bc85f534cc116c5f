// One opendir(3).
#pragma once

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <cstdint>
#include <optional>

#include "cache/dir/directory_places.h"
#include "cache/dir/directory_stream.h"
#include "cache/dir/page_ahead.h"
#include "cache/dir/whole_listing.h"
#include "cache/file/inode.h"
#include "transport/base/sync/async_mutex.h"

namespace nfsrdma::cache {

/// An open directory.
class Directory : public boost::intrusive_ref_counter<Directory, boost::thread_unsafe_counter> {
 public:
  Directory(Reactor& reactor, InodeRef of) : inode(std::move(of)), reading(reactor) {}

  /// No name in it was changed here since the present page was asked for. How old it is does not
  /// matter: see names_remaining() (cache/name/list_names.h).
  bool names_current() const { return stream.asked().epoch == inode->epoch(); }

  InodeRef inode;
  DirectoryStream stream;
  DirectoryPlaces places;
  /// A listing from the begin of the directory goes on at this cookie; nothing: it does not go on.
  std::optional<std::uint64_t> listed_to;
  PageAheadRef ahead;  ///< null: the next page was not asked for
  WholeListing whole;
  std::uint32_t whole_epoch = 0;  ///< Inode::epoch() when it began
  TimePoint whole_begun{};
  AsyncMutex reading;   ///< one reader of the stream at a time
  bool unread = false;  ///< the present page is of OPENDIR, and no READDIR has asked since
};

using DirectoryRef = boost::intrusive_ptr<Directory>;

}  // namespace nfsrdma::cache
