#include "fuse/ops/list_directory.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "cache/name/list_names.h"

namespace nfsrdma::fuse {
namespace {

/// A program that lists does so right after opendir(3). One that keeps the directory open, for
/// openat(2), and lists it later wants to see what is there by then.
constexpr Duration kMostUnread = std::chrono::seconds(3);

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

}  // namespace

void rewind(cache::Directory& directory) {
  directory.stream.rewind();
  directory.listed_to = 0;
}

Task<Result<void>> list_page(FileSystem& fs, client::Credential caller,
                             cache::DirectoryRef directory, std::uint64_t cookie) {
  auto fetched = co_await cache::list_from(fs.attributes(), caller, directory, cookie);
  CO_TRY(fetched);
  if (*fetched) compare_names(fs, *directory);
  co_return Result<void>();
}

bool take_opened_page(FileSystem& fs, cache::Directory& directory) {
  const TimePoint asked_at = directory.stream.asked().issue.at;
  return std::exchange(directory.unread, false) && directory.names_current() &&
         fs.mount().reactor().now() - asked_at <= kMostUnread;
}

}  // namespace nfsrdma::fuse
