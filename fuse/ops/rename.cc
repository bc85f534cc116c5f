#include "client/requests/rename.h"

#include <cerrno>
#include <string>

#include "cache/name/silly_names.h"
#include "client/requests/errno.h"
#include "client/requests/lookup.h"
#include "fuse/ops/operations.h"
#include "fuse/ops/reply.h"

namespace nfsrdma::fuse {
namespace {

struct Place {
  InodeRef directory;
  std::string name;
};

/// Whether both names lead to the same file: then rename(2) does nothing, and nothing is replaced.
Task<bool> same_file(FileSystem& fs, client::Credential caller, const Place& a, const Place& b) {
  auto first = co_await client::lookup(fs.mount(), caller, a.directory->handle(), a.name);
  if (!first) co_return false;
  auto second = co_await client::lookup(fs.mount(), caller, b.directory->handle(), b.name);
  co_return second && first->handle == second->handle;
}

/// Saves a file that is open here from being replaced; null when there is none.
Task<Result<cache::InodeRef>> keep_target(FileSystem& fs, client::Credential caller,
                                          const Place& from, const Place& to) {
  if (!fs.files().silly_names().may_matter()) co_return cache::InodeRef();
  const bool same = co_await same_file(fs, caller, from, to);
  if (same) co_return cache::InodeRef();
  auto kept = co_await fs.files().silly_names().keep_if_open(caller, to.directory, to.name,
                                                             cache::NameIs::replaced);
  if (!kept && client::to_errno(kept.error()) == ENOENT) co_return cache::InodeRef();
  co_return kept;
}

/// Both directories, and the file itself, are not what they were.
void moved(FileSystem& fs, const Place& from, const Place& to) {
  fs.attributes().names_changed(*from.directory);
  if (from.directory != to.directory) fs.attributes().names_changed(*to.directory);
}

Task<Result<void>> rename_once(FileSystem& fs, client::Credential caller, const Place& from,
                               const Place& to) {
  auto renamed = co_await client::rename(fs.mount(), caller, from.directory->handle(), from.name,
                                         to.directory->handle(), to.name);
  co_return renamed;
}

Task<void> run(FileSystem& fs, Request request, Place from, Place to) {
  const client::Credential caller = request.caller();
  // A file that replaces another one has its data by then.
  co_await fs.files().writes().behind().flush_all();
  auto kept = co_await keep_target(fs, caller, from, to);
  if (!kept) {
    reply_failure(fs, request, kept.error());
    co_return;
  }
  const std::uint64_t ended = fs.files().silly_names().removed();
  auto renamed = co_await rename_once(fs, caller, from, to);
  if (!renamed) {
    const bool again = co_await fs.files().silly_names().may_be_empty_now(renamed.error(), ended);
    if (again) renamed = co_await rename_once(fs, caller, from, to);
  }
  if (renamed) {
    moved(fs, from, to);
    request.reply_ok();
    co_return;
  }
  if (*kept) co_await fs.files().silly_names().restore(*kept, to.name);
  reply_failure(fs, request, renamed.error());
}

}  // namespace

void handle::rename(FileSystem& fs, Request request, InodeRef parent, RenameArguments arguments) {
  // NFSv4.1 has neither RENAME_NOREPLACE nor RENAME_EXCHANGE; EINVAL is renameat2's word for that.
  if (arguments.flags != 0) {
    request.reply_error(EINVAL);
    return;
  }
  Place from{std::move(parent), std::move(arguments.name)};
  Place to{inode_or_refuse(fs, request, arguments.new_directory), std::move(arguments.new_name)};
  if (to.directory) spawn(run(fs, std::move(request), std::move(from), std::move(to)));
}

}  // namespace nfsrdma::fuse
