// One open(2) or opendir(3): what the kernel's file handle number stands for.
#pragma once

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "cache/dir/directory_stream.h"
#include "client/proto/ops_open.h"
#include "client/state/open_state.h"
#include "fuse/inode/inode.h"
#include "fuse/inode/open_inode.h"
#include "transport/base/sync/async_mutex.h"

namespace nfsrdma::fuse {

/// An open regular file. Stands in the list of its OpenInode until released.
class File : public ListNode,
             public boost::intrusive_ref_counter<File, boost::thread_unsafe_counter> {
 public:
  File(InodeRef of, std::shared_ptr<OpenInode> of_open, client::OpenRef reference)
      : inode(std::move(of)),
        shared(std::move(of_open)),
        open(std::move(reference)),
        caller(open->caller()),
        errors_seen(shared->errors.sample()) {
    shared->files.push_back(*this);
  }

  ~File() { confirm_drop(); }

  /// The kernel has dropped the pages it was told to drop when the file was opened.
  void confirm_drop() {
    if (drop_unconfirmed) inode->pages_dropped();
    drop_unconfirmed = false;
  }
  bool writable() const { return (open.share_access() & nfs4::OPEN4_SHARE_ACCESS_WRITE) != 0; }

  InodeRef inode;
  std::shared_ptr<OpenInode> shared;
  client::OpenRef open;       ///< empty once the file is being closed
  client::Credential caller;  ///< who opened it; reads and writes are made in this name
  /// Who has asked for fcntl locks through it and has closed no descriptor of the file since. Those
  /// that are left when it is released are open file descriptions (F_OFD_SETLK): the kernel unlocks
  /// nothing of theirs.
  std::vector<std::uint64_t> lockers;
  std::uint64_t flock_owner = 0;  ///< of its flock(2) locks; 0: it has asked for none
  cache::WriteErrors::Seen errors_seen;
  std::uint64_t id = 0;   ///< what the kernel knows it by
  bool released = false;  ///< the kernel has given it up: only its close is left
  bool append = false;    ///< O_APPEND
  bool drop_unconfirmed = false;
  bool synchronous = false;  ///< O_SYNC, O_DSYNC or the sync option: every write is durable
};

using FileRef = boost::intrusive_ptr<File>;

/// An open directory.
class Directory : public boost::intrusive_ref_counter<Directory, boost::thread_unsafe_counter> {
 public:
  Directory(Reactor& reactor, InodeRef of) : inode(std::move(of)), reading(reactor) {}

  InodeRef inode;
  cache::DirectoryStream stream;
  /// A listing from the begin of the directory goes on at this cookie; nothing: it does not go on.
  std::optional<std::uint64_t> listed_to;
  AsyncMutex reading;  ///< one reader of the stream at a time
};

using DirectoryRef = boost::intrusive_ptr<Directory>;

}  // namespace nfsrdma::fuse
