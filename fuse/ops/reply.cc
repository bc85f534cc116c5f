#include "fuse/ops/reply.h"

#include <cerrno>

#include "client/requests/errno.h"

namespace nfsrdma::fuse {

InodeRef inode_or_refuse(FileSystem& fs, Request& request, std::uint64_t id) {
  InodeRef inode = fs.inodes().find(id);
  if (!inode) request.reply_error(ESTALE);
  return inode;
}

void reply_failure(FileSystem& fs, Request& request, const Error& error) {
  note_failure(fs, request, error);
  request.reply_error(client::to_errno(error));
}

void reply_done(FileSystem& fs, Request& request, const Result<void>& outcome) {
  if (outcome) {
    request.reply_ok();
  } else {
    reply_failure(fs, request, outcome.error());
  }
}

void note_failure(FileSystem& fs, const Request& request, const Error& error) {
  cache::Failed failed{.operation = request.operation(), .caller = request.context().pid};
  if (const InodeRef inode = fs.inodes().find(request.node())) {
    failed.fileid = inode->attributes().value().fileid;
  }
  if (request.answered()) {
    fs.files().failures().not_delivered(failed, error);
  } else {
    fs.files().failures().reported(failed, error, fs.mount().reactor().now());
  }
}

Error unusable_answer() {
  return Error::local(EIO, "file attributes",
                      "the server does not say what it is, or there are too many inodes");
}

void reply_found(FileSystem& fs, Request& request, Inode& directory, std::string_view name,
                 const InodeRef& inode) {
  if (!inode) return reply_failure(fs, request, unusable_answer());
  if (inode->is_directory()) {
    inode->set_parent_fileid(directory.attributes().value().fileid);
  }
  fs.inodes().count_lookup(*inode);
  if (!request.reply_entry(fs.kernel().entry_of(*inode, directory, name)))
    fs.inodes().forget(*inode, 1);
}

void reply_made(FileSystem& fs, Request& request, Inode& directory, std::string_view name,
                const Result<client::Made>& made, const cache::Issue& issue) {
  if (!made) return reply_failure(fs, request, made.error());
  fs.attributes().names_changed(directory, made->directory);
  reply_found(fs, request, directory, name,
              fs.adopt(made->handle, made->attributes, issue, cache::ChangedBy::anyone));
}

void reply_attributes(FileSystem& fs, Request& request, Inode& inode, bool asked) {
  fs.kernel().advertised(inode, asked);
  request.reply_attr(fs.kernel().stat_of(inode), fs.kernel().attribute_timeout(inode));
}

}  // namespace nfsrdma::fuse
