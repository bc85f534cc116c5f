#include "fuse/ops/reply.h"

#include <cerrno>

#include "fuse/channel/opcode.h"

namespace nfsrdma::fuse {
namespace {

/// 0: not known.
std::uint64_t fileid_of(FileSystem& fs, std::uint64_t node) {
  const InodeRef inode = fs.inodes().find(node);
  return inode ? inode->attributes().value().fileid : 0;
}

}  // namespace

InodeRef inode_or_refuse(FileSystem& fs, Request& request, std::uint64_t id) {
  InodeRef inode = fs.inodes().find(id);
  if (!inode) request.reply_error(ESTALE);
  return inode;
}

void reply_failure(FileSystem& fs, Request& request, const Error& error, std::string_view name) {
  const int error_number = note_failure(fs, request, error, name);
  request.reply_error(error_number);
}

void reply_done(FileSystem& fs, Request& request, const Result<void>& outcome,
                std::string_view name) {
  if (outcome) {
    request.reply_ok();
  } else {
    reply_failure(fs, request, outcome.error(), name);
  }
}

int note_failure(FileSystem& fs, const Request& request, const Error& error,
                 std::string_view name) {
  cache::Failed failed{
      .operation = request.operation(), .name = name, .caller = request.context().pid};
  failed.fileid = fileid_of(fs, request.node());
  cache::FailureLog& failures = fs.files().failures();
  if (request.answered()) return failures.not_delivered(failed, error);
  return failures.reported(failed, error, fs.mount().reactor().now());
}

void note_overdue(FileSystem& fs, const PendingRequest& overdue, int error_number) {
  const cache::Failed failed{.operation = opcode_name(overdue.opcode),
                             .fileid = fileid_of(fs, overdue.node),
                             .caller = overdue.context.pid};
  const Error error =
      Error::local(error_number, "soft", "the server has not answered within timeo and retrans");
  fs.files().failures().reported(failed, error, fs.mount().reactor().now());
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
  if (!made) return reply_failure(fs, request, made.error(), name);
  reply_entry(fs, request, directory, name, with_view(**made));
}

bool reply_attributes(FileSystem& fs, Request& request, Inode& inode, bool asked) {
  fs.kernel().advertised(inode, asked);
  return request.reply_attr(fs.kernel().stat_of(inode), fs.kernel().attribute_timeout(inode));
}

}  // namespace nfsrdma::fuse
