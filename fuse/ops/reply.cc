#include "fuse/ops/reply.h"

#include <cerrno>

namespace nfsrdma::fuse {

InodeRef inode_or_refuse(FileSystem& fs, Request& request, std::uint64_t id) {
  InodeRef inode = fs.inodes().find(id);
  if (!inode) request.reply_error(ESTALE);
  return inode;
}

void reply_failure(FileSystem& fs, Request& request, const Error& error) {
  const int error_number = note_failure(fs, request, error);
  request.reply_error(error_number);
}

void reply_done(FileSystem& fs, Request& request, const Result<void>& outcome) {
  if (outcome) {
    request.reply_ok();
  } else {
    reply_failure(fs, request, outcome.error());
  }
}

int note_failure(FileSystem& fs, const Request& request, const Error& error) {
  cache::Failed failed{.operation = request.operation(), .caller = request.context().pid};
  if (const InodeRef inode = fs.inodes().find(request.node())) {
    failed.fileid = inode->attributes().value().fileid;
  }
  cache::FailureLog& failures = fs.files().failures();
  if (request.answered()) return failures.not_delivered(failed, error);
  return failures.reported(failed, error, fs.mount().reactor().now());
}

void reply_entry(FileSystem& fs, Request& request, Inode& directory, std::string_view name,
                 Inode& inode) {
  fs.inodes().count_lookup(inode);
  if (!request.reply_entry(fs.kernel().entry_of(inode, directory, name))) {
    fs.inodes().forget(inode, 1);
  }
}

void reply_made(FileSystem& fs, Request& request, Inode& directory, std::string_view name,
                const Result<cache::InodeRef>& made) {
  if (!made) return reply_failure(fs, request, made.error());
  reply_entry(fs, request, directory, name, with_view(**made));
}

void reply_attributes(FileSystem& fs, Request& request, Inode& inode, bool asked) {
  fs.kernel().advertised(inode, asked);
  request.reply_attr(fs.kernel().stat_of(inode), fs.kernel().attribute_timeout(inode));
}

}  // namespace nfsrdma::fuse
