#include "fuse/ops/silly_rename.h"

#include <cerrno>

#include "client/requests/errno.h"
#include "client/requests/link.h"
#include "client/requests/lookup.h"
#include "client/requests/remove.h"
#include "client/requests/rename.h"
#include "transport/base/log.h"

namespace nfsrdma::fuse {
namespace {

constexpr int kNamesTried = 16;

/// The open file that loses its last name with this one; null when nothing is to be kept.
InodeRef open_file_of(FileSystem& fs, const client::Found& found) {
  const bool last_name =
      !found.attributes.has(nfs4::FATTR4_NUMLINKS) || found.attributes.numlinks <= 1;
  InodeRef inode = fs.inodes().find(found.handle);
  if (!inode || !last_name) return {};
  const auto open = inode->open();
  if (!open || open->files.empty() || open->preserve_unlinked) return {};
  return inode;
}

/// A name that is not taken, not even by a leftover of an earlier mount.
Task<Result<std::string>> free_name(FileSystem& fs, client::Credential caller, InodeRef directory,
                                    InodeRef inode) {
  for (int i = 0; i < kNamesTried; ++i) {
    std::string name = fs.silly_name(*inode);
    auto found = co_await client::lookup(fs.mount(), caller, directory->handle(), name);
    if (found) continue;
    if (client::to_errno(found.error()) != ENOENT) co_return fail_from(found);
    co_return name;
  }
  co_return fail(Error::local(EBUSY, "silly rename", "all names tried are taken"));
}

/// Gives the file a silly name: beside `name`, or instead of it.
Task<Result<SillyName>> give_silly_name(FileSystem& fs, client::Credential caller, InodeRef inode,
                                        InodeRef directory, std::string name, NameIs next) {
  auto free = co_await free_name(fs, caller, directory, inode);
  CO_TRY(free);
  SillyName silly{directory, std::move(*free), caller};
  if (next == NameIs::replaced) {
    auto linked =
        co_await client::link(fs.mount(), caller, inode->handle(), directory->handle(), silly.name);
    silly.beside_another = linked.has_value();
  }
  if (!silly.beside_another) {
    auto renamed = co_await client::rename(fs.mount(), caller, directory->handle(), name,
                                           directory->handle(), silly.name);
    CO_TRY(renamed);
  }
  co_return silly;
}

}  // namespace

Task<Result<InodeRef>> keep_if_open(FileSystem& fs, client::Credential caller, InodeRef directory,
                                    std::string name, NameIs next) {
  if (!fs.may_matter_to_names()) co_return InodeRef();
  auto found = co_await client::lookup(fs.mount(), caller, directory->handle(), name);
  CO_TRY(found);
  InodeRef inode = open_file_of(fs, *found);
  if (!inode) {
    co_await fs.mount().delegations().give_back(found->handle);
    co_return InodeRef();
  }
  auto kept = co_await give_silly_name(fs, caller, inode, directory, std::move(name), next);
  CO_TRY(kept);
  fs.names_changed(*directory);
  const auto open = inode->open();
  if (open && !open->files.empty()) {
    open->silly = std::move(*kept);
    announce_removal(fs, *open);
  } else {
    co_await remove_silly_name(fs, std::move(*kept));  // closed meanwhile
  }
  co_return inode;
}

void announce_removal(FileSystem& fs, OpenInode& open) {
  bool in_use = false;
  open.files.for_each([&](const File& file) { in_use |= !file.released; });
  if (open.silly && !open.removal && !in_use) open.removal.emplace(fs.silly_removals());
}

Task<void> restore_name(FileSystem& fs, InodeRef kept, std::string name) {
  const auto open = kept->open();
  if (!open || !open->silly) co_return;
  SillyName silly = *open->silly;
  if (silly.beside_another) {
    open->silly.reset();
    open->removal.reset();
    co_await remove_silly_name(fs, std::move(silly));
    co_return;
  }
  auto renamed = co_await client::rename(fs.mount(), silly.caller, silly.directory->handle(),
                                         silly.name, silly.directory->handle(), name);
  fs.names_changed(*silly.directory);
  if (!renamed) co_return;
  open->silly.reset();
  open->removal.reset();
}

Task<bool> may_be_empty_now(FileSystem& fs, Error error, std::uint64_t ended) {
  const int error_number = client::to_errno(error);
  if (error_number != ENOTEMPTY && error_number != EEXIST) co_return false;
  co_await fs.silly_removals().wait();
  co_return fs.silly_removals().ended() != ended;
}

Task<void> remove_silly_name(FileSystem& fs, SillyName silly) {
  auto removed =
      co_await client::remove(fs.mount(), silly.caller, silly.directory->handle(), silly.name);
  if (!removed && client::to_errno(removed.error()) != ENOENT) {
    log::warning("{} is left over: {}", silly.name, removed.error().message());
  }
  fs.names_changed(*silly.directory);
}

}  // namespace nfsrdma::fuse
