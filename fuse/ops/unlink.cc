#include <string>

#include "client/requests/remove.h"
#include "fuse/ops/handlers.h"
#include "fuse/ops/reply.h"
#include "fuse/ops/silly_rename.h"

namespace nfsrdma::fuse {
namespace {

void answer(FileSystem& fs, Request& request, Inode& parent, const Result<void>& removed) {
  if (!removed) {
    reply_failure(request, removed.error());
    return;
  }
  fs.names_changed(parent);
  request.reply_ok();
}

Task<void> remove_name(FileSystem& fs, Request request, client::Credential caller, InodeRef parent,
                       std::string_view name) {
  auto removed = co_await client::remove(fs.mount(), caller, parent->handle(), name);
  answer(fs, request, *parent, removed);
}

Task<void> remove_directory(FileSystem& fs, Request request, InodeRef parent, std::string name) {
  const client::Credential caller = request.caller();
  const std::uint64_t ended = fs.silly_removals().ended();
  auto removed = co_await client::remove(fs.mount(), caller, parent->handle(), name);
  if (!removed) {
    const bool again = co_await may_be_empty_now(fs, removed.error(), ended);
    if (again) removed = co_await client::remove(fs.mount(), caller, parent->handle(), name);
  }
  answer(fs, request, *parent, removed);
}

Task<void> remove_file_name(FileSystem& fs, Request request, InodeRef parent, std::string name) {
  const client::Credential caller = request.caller();
  auto kept = co_await keep_if_open(fs, caller, parent, name, NameIs::removed);
  if (!kept) {
    reply_failure(request, kept.error());
  } else if (*kept) {
    request.reply_ok();
  } else {
    co_await remove_name(fs, std::move(request), caller, std::move(parent), name);
  }
}

}  // namespace

void handle::unlink(fuse_req_t req, fuse_ino_t parent, const char* name) {
  FileSystem& fs = FileSystem::of(req);
  Request request(req);
  InodeRef directory = inode_or_refuse(fs, request, parent);
  if (!directory) return;
  if (!fs.may_matter_to_names()) {
    const client::Credential caller = request.caller();
    spawn(remove_name(fs, std::move(request), caller, std::move(directory), name));
    return;
  }
  std::string copy(name);
  spawn(remove_file_name(fs, std::move(request), std::move(directory), std::move(copy)));
}

void handle::rmdir(fuse_req_t req, fuse_ino_t parent, const char* name) {
  FileSystem& fs = FileSystem::of(req);
  Request request(req);
  InodeRef directory = inode_or_refuse(fs, request, parent);
  if (!directory) return;
  std::string copy(name);
  spawn(remove_directory(fs, std::move(request), std::move(directory), std::move(copy)));
}

}  // namespace nfsrdma::fuse
