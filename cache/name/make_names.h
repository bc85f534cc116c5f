// Names that are looked up or made, and the inodes they lead to.
#pragma once

#include <sys/types.h>

#include <string_view>

#include "cache/file/open.h"

namespace nfsrdma::cache {

// `name` and `target` stay valid until the task ends; `mode`: permission bits count only, but for
// make_node(). The returned inode has its attributes, and the directory's change is noted.

/// Null: there is no such name.
Task<Result<InodeRef>> lookup(AttributeCache& attributes, client::Credential caller,
                              InodeRef directory, std::string_view name);
/// open(2) with O_CREAT.
Task<Result<Opened>> create(AttributeCache& attributes, client::Credential caller,
                            InodeRef directory, std::string_view name, int flags, mode_t mode);
/// mknod(2) of any type. `device`: of a character or block device.
Task<Result<InodeRef>> make_node(AttributeCache& attributes, client::Credential caller,
                                 InodeRef directory, std::string_view name, mode_t mode,
                                 dev_t device);
Task<Result<InodeRef>> make_directory(AttributeCache& attributes, client::Credential caller,
                                      InodeRef directory, std::string_view name, mode_t mode);
Task<Result<InodeRef>> make_symlink(AttributeCache& attributes, client::Credential caller,
                                    InodeRef directory, std::string_view name,
                                    std::string_view target);
/// Gives `inode` another name.
Task<Result<void>> link(AttributeCache& attributes, client::Credential caller, InodeRef inode,
                        InodeRef directory, std::string_view name);

}  // namespace nfsrdma::cache
