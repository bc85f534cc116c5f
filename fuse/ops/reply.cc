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

void note_failure(FileSystem& fs, const Request& request, const Error& error) {
  Failed failed{.operation = request.operation(), .caller = request.context().pid};
  if (const InodeRef inode = fs.inodes().find(request.node())) {
    failed.fileid = inode->attributes().value().fileid;
  }
  if (request.answered()) {
    fs.failures().untold(failed, error);
  } else {
    fs.failures().told(failed, error, fs.mount().reactor().now());
  }
}

void note_background_failure(FileSystem& fs, const Inode& inode, std::string_view operation,
                             const Error& error) {
  const Failed failed{
      .operation = operation, .fileid = inode.attributes().value().fileid, .data_lost = true};
  fs.failures().told(failed, error, fs.mount().reactor().now());
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
  if (!request.reply_entry(fs.entry_of(*inode, directory, name))) fs.inodes().forget(*inode, 1);
}

void reply_attributes(FileSystem& fs, Request& request, Inode& inode, bool asked) {
  fs.told(inode, asked);
  request.reply_attr(fs.stat_of(inode), fs.attribute_timeout(inode));
}

}  // namespace nfsrdma::fuse
