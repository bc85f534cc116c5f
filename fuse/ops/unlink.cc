#include <string>

#include "cache/name/silly_names.h"
#include "client/requests/remove.h"
#include "fuse/ops/operations.h"
#include "fuse/ops/reply.h"

namespace nfsrdma::fuse {
namespace {

void answer(FileSystem& fs, Request& request, Inode& parent, const Result<void>& removed) {
  if (!removed) {
    reply_failure(fs, request, removed.error());
    return;
  }
  fs.attributes().names_changed(parent);
  request.reply_ok();
}

Task<void> remove_name(FileSystem& fs, Request request, InodeRef parent, std::string name) {
  const client::Credential caller = request.caller();
  auto removed = co_await client::remove(fs.mount(), caller, parent->handle(), name);
  answer(fs, request, *parent, removed);
}

Task<void> remove_file_name(FileSystem& fs, Request request, InodeRef parent, std::string name) {
  const client::Credential caller = request.caller();
  auto kept =
      co_await fs.files().silly_names().keep_if_open(caller, parent, name, cache::NameIs::removed);
  if (!kept) {
    reply_failure(fs, request, kept.error());
  } else if (*kept) {
    request.reply_ok();
  } else {
    co_await remove_name(fs, std::move(request), std::move(parent), std::move(name));
  }
}

}  // namespace

void handle::unlink(FileSystem& fs, Request request, InodeRef parent, NameArguments arguments) {
  const auto remove = fs.files().silly_names().may_matter() ? remove_file_name : remove_name;
  spawn(remove(fs, std::move(request), std::move(parent), std::move(arguments.name)));
}

Task<void> handle::rmdir(FileSystem& fs, Request request, InodeRef parent,
                         NameArguments arguments) {
  const std::string& name = arguments.name;
  const client::Credential caller = request.caller();
  const std::uint64_t ended = fs.files().silly_names().removed();
  auto removed = co_await client::remove(fs.mount(), caller, parent->handle(), name);
  if (!removed) {
    const bool again = co_await fs.files().silly_names().may_be_empty_now(removed.error(), ended);
    if (again) removed = co_await client::remove(fs.mount(), caller, parent->handle(), name);
  }
  answer(fs, request, *parent, removed);
}

}  // namespace nfsrdma::fuse
