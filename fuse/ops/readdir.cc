#include "client/requests/readdir.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "client/requests/errno.h"
#include "fuse/ops/directory_answer.h"
#include "fuse/ops/operations.h"
#include "fuse/ops/reply.h"

namespace nfsrdma::fuse {
namespace {

using cache::DirectoryStream;

/// Bytes of one READDIR reply. About a thousand entries with attributes.
constexpr std::uint32_t kPageBytes = 256 * 1024;

bool cookie_refused(const Error& error) {
  return error.is(Layer::nfs, nfs4::NFS4ERR_NOT_SAME) ||
         error.is(Layer::nfs, nfs4::NFS4ERR_BAD_COOKIE);
}

/// Makes the kernel look up again the names that the listing contradicts.
void compare_names(FileSystem& fs, cache::Directory& directory, std::uint64_t cookie,
                   const client::DirectoryPage& page) {
  AdvertisedNames* const told = with_view(*directory.inode).view().names();
  if (!told || directory.listed_to != cookie) {
    directory.listed_to.reset();
    return;
  }
  if (cookie == 0) told->listing_begins();
  std::vector<std::string> doubted;
  for (const client::Entry& entry : page.entries) {
    if (told->listed(entry.name)) doubted.push_back(entry.name);
  }
  if (page.eof) std::ranges::move(told->listing_ends(), std::back_inserter(doubted));
  fs.kernel().doubt_names(with_view(*directory.inode), std::move(doubted));
  if (!page.entries.empty()) directory.listed_to = page.entries.back().cookie;
}

/// Gets the page that starts at `cookie`. A server that no longer knows the verifier gets one more
/// try without: most of them can go on from any cookie.
Task<Result<void>> fetch(FileSystem& fs, client::Credential caller, cache::DirectoryRef directory,
                         std::uint64_t cookie) {
  DirectoryStream& stream = directory->stream;
  const DirectoryStream::Asked asked{cookie, fs.attributes().issue(), directory->inode->epoch()};
  auto page = co_await client::readdir(fs.mount(), caller, directory->inode->handle(), cookie,
                                       stream.verifier(), kPageBytes, true);
  if (!page && cookie_refused(page.error())) {
    stream.forget_verifier();
    page = co_await client::readdir(fs.mount(), caller, directory->inode->handle(), cookie,
                                    stream.verifier(), kPageBytes, true);
  }
  CO_TRY(page);
  if (page->entries.empty() && !page->eof) {
    co_return fail(Error::local(EIO, "READDIR", "neither an entry nor the end"));
  }
  compare_names(fs, *directory, cookie, *page);
  if (!stream.replace(asked, std::move(*page))) {
    co_return fail(Error::local(ELOOP, "READDIR", "the server's cookies lead back to old entries"));
  }
  co_return Result<void>();
}

/// Makes the entries after `cookie` present, unless the directory ends there.
Task<Result<void>> reach(FileSystem& fs, client::Credential caller, cache::DirectoryRef directory,
                         std::uint64_t cookie) {
  DirectoryStream& stream = directory->stream;
  if (!stream.following(cookie).empty() || stream.ends_after(cookie)) co_return Result<void>();
  auto fetched = co_await fetch(fs, caller, directory, cookie);
  co_return fetched;
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
  auto reached = co_await reach(fs, caller, directory, cookie);
  if (!reached) {
    reply_failure(fs, request, reached.error());
    co_return;
  }
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
