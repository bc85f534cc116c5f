#include <cerrno>
#include <utility>

#include "fuse/ops/directory_answer.h"
#include "fuse/ops/list_directory.h"
#include "fuse/ops/operations.h"
#include "fuse/ops/reply.h"

namespace nfsrdma::fuse {
namespace {

Task<void> run(FileSystem& fs, Request request, cache::DirectoryRef directory,
               DirectoryAnswer answer, std::uint64_t offset) {
  const client::Credential caller = request.caller();
  auto guard = co_await directory->reading.lock();
  const bool opened = take_opened_page(fs, *directory);
  if (offset == 0 && !opened) rewind(*directory);
  const auto cookie = directory->places.cookie_at(offset);
  if (!cookie) {  // lseek(2) to a place that nothing has told
    request.reply_error(EINVAL);
    co_return;
  }
  auto present = co_await list_page(fs, caller, directory, *cookie);
  if (!present) {
    reply_failure(fs, request, present.error());
    co_return;
  }
  answer.add_dots(with_view(*directory->inode), offset);
  directory->places.go_to(offset);
  for (const client::Entry& entry : directory->stream.following(*cookie)) {
    const InodeRef inode = answer.inode_of(*directory, entry);
    if (inode && fs.kernel().pages_outdated(*inode))
      co_await fs.kernel().drop_outdated_pages(inode);
    const bool added = answer.add(*directory, entry, inode);
    if (!added) break;
  }
  if (answer.too_many()) {
    request.reply_error(EOVERFLOW);
    co_return;
  }
  with_view(*directory->inode).view().asks_again();
  if (!request.reply_data(answer.data())) answer.take_back();
}

}  // namespace

void handle::readdir(FileSystem& fs, Request request, cache::DirectoryRef directory,
                     ReadArguments arguments) {
  const auto kind = request.opcode() == FUSE_READDIRPLUS
                        ? DirectoryAnswer::Kind::names_and_attributes
                        : DirectoryAnswer::Kind::names;
  DirectoryAnswer answer(fs, kind, std::move(*arguments.slot), arguments.size);
  spawn(run(fs, std::move(request), std::move(directory), std::move(answer), arguments.offset));
}

}  // namespace nfsrdma::fuse
