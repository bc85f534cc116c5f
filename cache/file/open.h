// open(2) of a file that is known.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cache/data/read_piece.h"
#include "cache/file/attribute_cache.h"

namespace nfsrdma::cache {

/// A name by which a file was found.
struct NameIn {
  InodeRef directory;
  std::string name;
};

/// An open that the server has granted, or that a delegation covers. Dropping this closes
/// it.
struct Opened {
  InodeRef inode;
  client::OpenRef open;
  /// The server keeps an open file that was removed (OPEN4_RESULT_PRESERVE_UNLINKED).
  bool preserve_unlinked = false;
  ReadPieceRef first{};      ///< the file's first bytes, where open() has read them; ReadAhead's
  std::uint64_t change = 0;  ///< the version of the file that they are of, or a later one
};

/// __FMODE_EXEC: the kernel sets it among the flags of an open by execve(2), and no program can.
inline constexpr int kOpenToExecute = 0x20;

/// OPEN4_SHARE_ACCESS_* for flags of open(2).
std::uint32_t share_access(int flags);

/// Sends OPEN for what `flags` say (open(2), kOpenToExecute), and takes in the attributes of its
/// result. Asks for no delegation with O_DIRECT: such data is not cached. `first`: of
/// ReadAhead::for_open(), or null; the same request reads its bytes. `by`: ESTALE when this name
/// leads to the file no more.
Task<Result<Opened>> open(AttributeCache& attributes, client::Credential caller, InodeRef inode,
                          int flags, ReadPieceRef first = {}, std::optional<NameIn> by = {});
/// Without asking the server: under a delegation nothing can have changed. Empty when there is none
/// that covers it.
std::optional<Opened> open_locally(AttributeCache& attributes, const client::Credential& caller,
                                   const InodeRef& inode, int flags);

}  // namespace nfsrdma::cache
