// RFC 8881 section 18.26.
#include <fcntl.h>
#include <stdio.h>

#include <cerrno>

#include "tests/responder/nfs/delegations.h"
#include "tests/responder/nfs/ops/ops.h"

namespace nfsrdma::responder {

using namespace nfs4;

namespace {

// The RFC has one error for a target of the other kind.
nfsstat4 status_of_rename(int error_number) {
  return error_number == EISDIR || error_number == ENOTDIR ? NFS4ERR_EXIST
                                                           : status_of_errno(error_number);
}

struct Renaming {
  int from_fd;
  const Component& from;
  int to_fd;
  const Component& to;
};

/// `changed`: false when nothing has happened.
nfsstat4 rename_entry(CompoundContext& context, const Renaming& what, bool& changed) {
  const ActAs act(context.who);
  const auto moved = stat_at(what.from_fd, what.from.c_str());
  if (!moved) return moved.error();
  const auto replaced = stat_at(what.to_fd, what.to.c_str());
  nfsstat4 status = recall_by_key(context, moved->key());
  if (status == NFS4_OK && replaced) status = recall_by_key(context, replaced->key());
  if (status != NFS4_OK) return status;
  if (::renameat(what.from_fd, what.from.c_str(), what.to_fd, what.to.c_str()) != 0) {
    return status_of_rename(errno);
  }
  // Two names of one inode, or one name (RFC 8881 section 18.26.3).
  changed = !replaced || replaced->key() != moved->key();
  if (!changed) return NFS4_OK;
  context.server.changes.bump(moved->key());
  if (replaced) {
    context.server.changes.bump(replaced->key());
    context.files().note_removed(replaced->key(), context.current, what.to.view());
  }
  context.files().note_renamed(moved->key(), context.current, what.to.view());
  return NFS4_OK;
}

}  // namespace

nfsstat4 op_rename(CompoundContext& context, const RENAME4args& args, RENAME4res& result) {
  const Component from(args.oldname);
  const Component to(args.newname);
  if (from.status() != NFS4_OK) return from.status();
  if (to.status() != NFS4_OK) return to.status();
  if (!context.saved->is_directory() || !context.current->is_directory()) return NFS4ERR_NOTDIR;
  const auto from_fd = context.files().path_fd(context.saved);
  if (!from_fd) return from_fd.error();
  const auto to_fd = context.files().path_fd(context.current);
  if (!to_fd) return to_fd.error();
  DirectoryChange source(context, context.saved);
  DirectoryChange target(context, context.current);
  bool changed = false;
  const nfsstat4 status = rename_entry(context, {*from_fd, from, *to_fd, to}, changed);
  if (status != NFS4_OK) return status;
  result.resok4.source_cinfo = changed ? source.finish() : source.unchanged();
  result.resok4.target_cinfo = changed ? target.finish() : target.unchanged();
  // One directory has one last value.
  if (context.saved == context.current) result.resok4.source_cinfo = result.resok4.target_cinfo;
  return NFS4_OK;
}

}  // namespace nfsrdma::responder
