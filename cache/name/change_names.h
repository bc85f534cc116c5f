// Changes of names, with their consequences for files that are open here.
#pragma once

#include <optional>
#include <string>

#include "cache/name/silly_names.h"
#include "cache/write/write_behind.h"

namespace nfsrdma::cache {

/// A name in a directory.
struct Place {
  InodeRef directory;
  std::string name;
  /// The file that the name leads to, null for none, if a lookup found so within the lifetime of
  /// names and nothing has contradicted it since. Empty: ask the server where it matters.
  std::optional<InodeRef> leads_to{};
};

/// unlink(2): a file that is open here gets a silly name if it needs one.
Task<Result<void>> unlink(SillyNames& names, client::Credential caller, Place place);
/// rmdir(2): waits for closes in flight if silly names are in the directory.
Task<Result<void>> remove_directory(SillyNames& names, client::Credential caller, Place place);
/// rename(2). Sends the dirty data of the file first (of all files where it is not known which one
/// it is), so that a file that replaces another one has its data; a replaced one that is open here
/// gets a silly name if it needs one.
Task<Result<void>> rename(SillyNames& names, WriteBehind& behind, client::Credential caller,
                          Place from, Place to);

}  // namespace nfsrdma::cache
