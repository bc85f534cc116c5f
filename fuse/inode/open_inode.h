// What a file has while it is open here: who has it open, and what was written but not committed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cache/data/uncommitted_data.h"
#include "cache/data/write_errors.h"
#include "cache/data/write_gate.h"
#include "client/state/async_mutex.h"
#include "fuse/inode/inode.h"
#include "transport/base/intrusive_list.h"

namespace nfsrdma::fs {

class File;

/// The name an open file was given when its last name was removed (`.nfs...`).
struct SillyName {
  InodeRef directory;
  std::string name;
  client::Caller caller;  ///< who removed the file, and so may remove this name
};

/// One for each file that is open here; shared by its Files and by operations under way. As a list
/// node it stands among the files that have uncommitted data.
class OpenInode : public ListNode {
 public:
  OpenInode(Reactor& reactor, cache::KeptMemory& memory) : kept(memory), gate(reactor) {}

  IntrusiveList<File> files;
  cache::UncommittedData kept;
  cache::WriteErrors errors;
  cache::WriteGate gate;
  client::AsyncMutex committing;  ///< one COMMIT at a time
  std::optional<SillyName> silly;
  /// The server keeps a removed file as long as it is open (OPEN4_RESULT_PRESERVE_UNLINKED).
  bool preserve_unlinked = false;
};

}  // namespace nfsrdma::fs
