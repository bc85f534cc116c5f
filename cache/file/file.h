// One open(2).
#pragma once

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <cstdint>
#include <memory>
#include <vector>

#include "cache/data/read_stream.h"
#include "cache/file/inode.h"
#include "cache/file/open_inode.h"
#include "client/files/open_ref.h"
#include "client/proto/ops_open.h"

namespace nfsrdma::cache {

/// An open regular file. Stands in the list of its OpenInode until released.
class File : public ListNode,
             public boost::intrusive_ref_counter<File, boost::thread_unsafe_counter> {
 public:
  File(InodeRef of, std::shared_ptr<OpenInode> of_open, client::OpenRef reference)
      : inode(std::move(of)),
        shared(std::move(of_open)),
        open(std::move(reference)),
        caller(open.caller()),
        errors_seen(shared->errors.sample()) {
    shared->files.push_back(*this);
  }

  virtual ~File() = default;
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool writable() const { return (open.share_access() & nfs4::OPEN4_SHARE_ACCESS_WRITE) != 0; }

  InodeRef inode;
  std::shared_ptr<OpenInode> shared;
  client::OpenRef open;       ///< empty once the file is being closed
  client::Credential caller;  ///< of the opener; reads and writes are sent with it
  /// Lock owners that have asked for fcntl locks through this file and have closed no descriptor of
  /// it since. Those left at its release are open file descriptions (F_OFD_SETLK), whose locks the
  /// kernel does not unlock.
  std::vector<std::uint64_t> lockers;
  std::uint64_t flock_owner = 0;  ///< of its flock(2) locks; 0: it has asked for none
  WriteErrors::Seen errors_seen;
  ReadPattern pattern;                ///< of reads through the page cache
  std::unique_ptr<ReadStream> ahead;  ///< null until they have one (cache/read/read_ahead.h)
  bool released = false;              ///< no program has it any more: only its close is left
  bool synchronous = false;  ///< O_SYNC, O_DSYNC or the sync option: every write is durable
};

using FileRef = boost::intrusive_ptr<File>;

}  // namespace nfsrdma::cache
