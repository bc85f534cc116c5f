// Removing a name of a file that is open here: the server would drop the file, so it gets another
// name (.nfs...) until the last close. What the Linux client does ("silly rename").
#pragma once

#include <cstdint>
#include <string>

#include "fuse/ops/file_system.h"

namespace nfsrdma::fuse {

/// What is to become of a name.
enum class NameIs : std::uint8_t { removed, replaced };

/// If `name` is the last name of a file that is open here and that the server would not keep
/// without a name, gives it another one. One that is to be removed is gone then; one that is to be
/// replaced stays until it is, if the server can link files: nobody finds it missing meanwhile.
/// Returns that file, or null. The delegation of a file that is not kept is returned (RFC 8881
/// section 10.4.4).
Task<Result<InodeRef>> keep_if_open(FileSystem& fs, client::Credential caller, InodeRef directory,
                                    std::string name, NameIs next);

/// Of a file that has a silly name and whose last RELEASE has come, or the other way round: who
/// removes the directory waits until the name is gone.
void announce_removal(FileSystem& fs, OpenInode& open);

/// Leaves the kept file with its old name alone, for a rename(2) whose second half failed. Best
/// effort.
Task<void> restore_name(FileSystem& fs, InodeRef kept, std::string name);

/// A change was refused with `error`. True when that was because a directory is not empty and it
/// may be by now, because silly names are gone of which `ended` had gone before the change was
/// asked for.
Task<bool> may_be_empty_now(FileSystem& fs, Error error, std::uint64_t ended);

/// Removes the silly name after the last close. Best effort: a leftover is logged.
Task<void> remove_silly_name(FileSystem& fs, SillyName silly);

}  // namespace nfsrdma::fuse
