#include "client/requests/lookup.h"

#include <cerrno>
#include <string>
#include <string_view>

#include "client/requests/errno.h"
#include "fuse/ops/operations.h"
#include "fuse/ops/reply.h"

namespace nfsrdma::fuse {
namespace {

/// "There is no such name", in the form that lets the kernel remember it.
void reply_missing(FileSystem& fs, Request& request, Inode& parent, std::string_view name) {
  const double timeout = fs.negative_timeout(parent);
  if (timeout <= 0) {
    request.reply_error(ENOENT);
    return;
  }
  parent.tell_name(name, AdvertisedNames::As::missing);
  EntryAnswer entry;
  entry.entry_timeout = timeout;
  request.reply_entry(entry);
}

}  // namespace

Task<void> handle::lookup(FileSystem& fs, Request request, InodeRef parent,
                          NameArguments arguments) {
  const std::string& name = arguments.name;
  if (fs.size_revalidator().is_asked_for(*parent, name)) {
    fs.size_revalidator().answer(request);
    co_return;
  }
  const cache::Issue issue = fs.issue();
  const client::Credential caller = request.caller();
  auto found = co_await client::lookup(fs.mount(), caller, parent->handle(), name);
  if (found) {
    const InodeRef inode = fs.adopt(found->handle, found->attributes, issue, ChangedBy::anyone);
    if (inode && fs.pages_outdated(*inode)) co_await fs.drop_outdated_pages(inode);
    reply_found(fs, request, *parent, name, inode);
  } else if (client::to_errno(found.error()) == ENOENT) {
    reply_missing(fs, request, *parent, name);
  } else {
    reply_failure(fs, request, found.error());
  }
}

}  // namespace nfsrdma::fuse
