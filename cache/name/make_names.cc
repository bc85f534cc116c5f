#include "cache/name/make_names.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cerrno>

#include "client/files/open.h"
#include "client/requests/create.h"
#include "client/requests/errno.h"
#include "client/requests/link.h"
#include "client/requests/lookup.h"

namespace nfsrdma::cache {
namespace {

constexpr mode_t kModeBits = 07777;

/// NF4REG for a type that CREATE does not make.
nfs4::nfs_ftype4 node_type(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFIFO: return nfs4::NF4FIFO;
    case S_IFSOCK: return nfs4::NF4SOCK;
    case S_IFCHR: return nfs4::NF4CHR;
    case S_IFBLK: return nfs4::NF4BLK;
    default: return nfs4::NF4REG;
  }
}

Result<InodeRef> adopt_found(AttributeCache& attributes, const Inode& directory,
                             const client::Found& found, const Issue& issue) {
  auto inode = attributes.adopt(found.handle, found.attributes, issue);
  if (inode) (*inode)->found_in(directory);
  return inode;
}

/// Takes in the file made by a request that was sent at `issue`.
Result<InodeRef> adopt_made(AttributeCache& attributes, Inode& directory,
                            Result<client::Made>& made, const Issue& issue, std::string_view name) {
  if (!made) {
    attributes.names_unsure(directory);
    return fail_from(made);
  }
  attributes.file_made(directory, made->directory, name, issue.at);
  return adopt_found(attributes, directory, *made, issue);
}

}  // namespace

Task<Result<InodeRef>> lookup(AttributeCache& attributes, client::Credential caller,
                              InodeRef directory, std::string_view name) {
  const Issue issue = attributes.issue();
  auto found = co_await client::lookup(attributes.mount(), caller, directory->handle(), name);
  if (!found && client::to_errno(found.error()) == ENOENT) co_return InodeRef();
  CO_TRY(found);
  co_return adopt_found(attributes, *directory, *found, issue);
}

Task<Result<Opened>> create(AttributeCache& attributes, client::Credential caller,
                            InodeRef directory, std::string_view name, int flags, mode_t mode) {
  const Issue issue = attributes.issue();
  const bool exclusive = (flags & O_EXCL) != 0;
  const auto how = exclusive ? client::CreateMode::exclusive : client::CreateMode::unchecked;
  client::SetAttributes initial;
  initial.mode = mode & kModeBits;
  if ((flags & O_TRUNC) && !exclusive) initial.size = 0;
  auto opened = co_await client::create(attributes.mount(), caller, directory->handle(), name, how,
                                        initial, share_access(flags));
  if (!opened) attributes.names_unsure(*directory);
  CO_TRY(opened);
  attributes.file_made(*directory, opened->directory, name, issue.at);
  auto inode = attributes.adopt(opened->handle, opened->attributes, issue);
  CO_TRY(inode);
  co_return Opened{std::move(*inode), std::move(opened->open), opened->preserve_unlinked};
}

Task<Result<InodeRef>> make_node(AttributeCache& attributes, client::Credential caller,
                                 InodeRef directory, std::string_view name, mode_t mode,
                                 dev_t device) {
  if (S_ISREG(mode)) {
    // Only OPEN makes regular files.
    auto opened = co_await create(attributes, caller, directory, name, O_RDONLY | O_EXCL, mode);
    CO_TRY(opened);
    co_return std::move(opened->inode);
  }
  const Issue issue = attributes.issue();
  const nfs4::specdata4 numbers{major(device), minor(device)};
  auto made = co_await client::make_node(attributes.mount(), caller, directory->handle(), name,
                                         node_type(mode), mode & kModeBits, numbers);
  co_return adopt_made(attributes, *directory, made, issue, name);
}

Task<Result<InodeRef>> make_directory(AttributeCache& attributes, client::Credential caller,
                                      InodeRef directory, std::string_view name, mode_t mode) {
  const Issue issue = attributes.issue();
  auto made = co_await client::make_directory(attributes.mount(), caller, directory->handle(), name,
                                              mode & kModeBits);
  auto inode = adopt_made(attributes, *directory, made, issue, name);
  // A directory that an earlier attempt made may have been found and filled since.
  if (inode && made->directory) {
    attributes.listed(**inode, std::make_unique<ListedNames>(attributes.listed_total()),
                      made->attributes.change, issue.at, issue);
  }
  co_return inode;
}

Task<Result<InodeRef>> make_symlink(AttributeCache& attributes, client::Credential caller,
                                    InodeRef directory, std::string_view name,
                                    std::string_view target) {
  const Issue issue = attributes.issue();
  auto made =
      co_await client::make_symlink(attributes.mount(), caller, directory->handle(), name, target);
  co_return adopt_made(attributes, *directory, made, issue, name);
}

Task<Result<void>> link(AttributeCache& attributes, client::Credential caller, InodeRef inode,
                        InodeRef directory, std::string_view name) {
  const Issue issue = attributes.issue();
  auto linked =
      co_await client::link(attributes.mount(), caller, inode->handle(), directory->handle(), name);
  if (!linked) attributes.names_unsure(*directory);
  CO_TRY(linked);
  attributes.names_changed(*directory, linked->directory, name);
  attributes.learn(*inode, linked->attributes, issue, ChangedBy::anyone);
  co_return Result<void>();
}

}  // namespace nfsrdma::cache
