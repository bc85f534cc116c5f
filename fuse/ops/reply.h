// Answers that several operations give.
#pragma once

#include <string_view>

#include "client/proto/object.h"
#include "fuse/channel/request.h"
#include "fuse/ops/file_system.h"

namespace nfsrdma::fuse {

/// The inode the kernel names; null after answering ESTALE when there is none.
InodeRef inode_or_refuse(FileSystem& fs, Request& request, std::uint64_t id);

/// Answers with the errno that `error` becomes, and logs and counts it.
void reply_failure(FileSystem& fs, Request& request, const Error& error);
/// The same, or success, for an operation whose answer has nothing else.
void reply_done(FileSystem& fs, Request& request, const Result<void>& outcome);
/// For an operation that answers by itself: before it does.
void note_failure(FileSystem& fs, const Request& request, const Error& error);
/// What a server has answered that cannot be adopted.
Error unusable_answer();

/// Answers with what was found or made in `directory` under this name, null: what could not be
/// adopted. If the kernel does not take the answer, the lookup count is taken back.
void reply_found(FileSystem& fs, Request& request, Inode& directory, std::string_view name,
                 const InodeRef& inode);

/// The same for a name that a request of its own, sent at `issue`, has made in `directory`, or has
/// not.
void reply_made(FileSystem& fs, Request& request, Inode& directory, std::string_view name,
                const Result<client::Made>& made, const cache::Issue& issue);

/// Answers with the remembered attributes. `asked`: the kernel wants to know them (GETATTR), so it
/// does not believe any it had.
void reply_attributes(FileSystem& fs, Request& request, Inode& inode, bool asked = true);

}  // namespace nfsrdma::fuse
