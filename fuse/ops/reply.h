// Answers that several operations give.
#pragma once

#include <string_view>

#include "fuse/channel/in_flight.h"
#include "fuse/channel/request.h"
#include "fuse/ops/file_system.h"

namespace nfsrdma::fuse {

/// The inode the kernel names; null after answering ESTALE when there is none.
InodeRef inode_or_refuse(FileSystem& fs, Request& request, std::uint64_t id);

/// Answers with the errno that `error` becomes, and logs and counts it. `name`: the name it
/// concerns, in the directory that the request names.
void reply_failure(FileSystem& fs, Request& request, const Error& error,
                   std::string_view name = {});
/// The same, or success, for an operation whose answer has nothing else.
void reply_done(FileSystem& fs, Request& request, const Result<void>& outcome,
                std::string_view name = {});
/// For an operation that answers by itself: before it does. Returns the errno.
int note_failure(FileSystem& fs, const Request& request, const Error& error,
                 std::string_view name = {});
/// For a request that is answered `error_number` because the server has not answered in time.
void note_overdue(FileSystem& fs, const PendingRequest& overdue, int error_number);

/// Answers with the file found or made in `directory` under this name. If the kernel does not take
/// the answer, the lookup count is taken back.
void reply_entry(FileSystem& fs, Request& request, Inode& directory, std::string_view name,
                 Inode& inode);
/// The same, or the reason why nothing was made.
void reply_made(FileSystem& fs, Request& request, Inode& directory, std::string_view name,
                const Result<cache::InodeRef>& made);

/// Answers with the remembered attributes. `asked`: the kernel wants to know them (GETATTR), so it
/// does not believe any it had. Returns whether the kernel took the answer.
bool reply_attributes(FileSystem& fs, Request& request, Inode& inode, bool asked = true);

}  // namespace nfsrdma::fuse
