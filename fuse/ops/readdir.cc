#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "cache/name/list_names.h"
#include "fuse/ops/directory_answer.h"
#include "fuse/ops/operations.h"
#include "fuse/ops/reply.h"

namespace nfsrdma::fuse {
namespace {

using cache::DirectoryStream;

/// Makes the kernel look up again the names that a page just fetched contradicts.
void compare_names(FileSystem& fs, cache::Directory& directory) {
  const std::uint64_t cookie = directory.stream.asked().cookie;
  const client::DirectoryPage& page = directory.stream.page();
  AdvertisedNames* const advertised = with_view(*directory.inode).view().names();
  if (!advertised || directory.listed_to != cookie) {
    directory.listed_to.reset();
    return;
  }
  if (cookie == 0) advertised->listing_begins();
  std::vector<std::string> doubted;
  for (const client::Entry& entry : page.entries) {
    if (advertised->listed(entry.name)) doubted.push_back(entry.name);
  }
  if (page.eof) std::ranges::move(advertised->listing_ends(), std::back_inserter(doubted));
  fs.kernel().notifier().doubt_names(with_view(*directory.inode), std::move(doubted));
  if (!page.entries.empty()) directory.listed_to = page.entries.back().cookie;
}

Task<void> run(FileSystem& fs, Request request, cache::DirectoryRef directory,
               DirectoryAnswer answer, std::uint64_t offset) {
  const client::Credential caller = request.caller();
  auto guard = co_await directory->reading.lock();
  if (offset == 0) {
    directory->stream.rewind();
    directory->listed_to = 0;
  }
  const std::uint64_t cookie = offset <= DirectoryStream::kAfterDotDot ? 0 : offset;
  auto fetched = co_await cache::list_from(fs.attributes(), caller, directory, cookie);
  if (!fetched) {
    reply_failure(fs, request, fetched.error());
    co_return;
  }
  if (*fetched) compare_names(fs, *directory);
  answer.add_dots(with_view(*directory->inode), offset);
  for (const client::Entry& entry : directory->stream.following(cookie)) {
    const InodeRef inode = answer.inode_of(*directory, entry);
    if (inode && fs.kernel().pages_outdated(*inode))
      co_await fs.kernel().drop_outdated_pages(inode);
    const bool added = answer.add(*directory, entry, inode);
    if (!added) break;
  }
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
