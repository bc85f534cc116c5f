#include "cache/name/list_names.h"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

#include "client/session/session.h"

namespace nfsrdma::cache {
namespace {

/// One part in this many of the session's slots stays free for requests that a program waits for.
constexpr std::uint32_t kPartLeft = 4;
/// Bytes of one READDIR reply. About a thousand entries with attributes.
constexpr std::uint32_t kPageBytes = 256 * 1024;
/// The same where a program has gone to a place (seekdir(3)) that no page has: it may take one
/// entry and go to another place. About sixty entries.
constexpr std::uint32_t kSoughtBytes = 16 * 1024;

bool cookie_refused(const Error& error) {
  return error.is(Layer::nfs, nfs4::NFS4ERR_NOT_SAME) ||
         error.is(Layer::nfs, nfs4::NFS4ERR_BAD_COOKIE);
}

/// Gets the page that starts at `cookie` from the server. A server that no longer knows the
/// verifier gets one more try without: most of them can go on from any cookie.
Task<Result<client::DirectoryPage>> fetch(client::Mount& mount, client::Credential caller,
                                          DirectoryRef directory, std::uint64_t cookie,
                                          std::uint32_t bytes) {
  const client::FileHandle& handle = directory->inode->handle();
  DirectoryStream& stream = directory->stream;
  auto page =
      co_await client::readdir(mount, caller, handle, cookie, stream.verifier(), bytes, true);
  if (!page && cookie_refused(page.error())) {
    stream.forget_verifier();
    page = co_await client::readdir(mount, caller, handle, cookie, stream.verifier(), bytes, true);
  }
  co_return page;
}

Task<void> ask_ahead(AttributeCache& attributes, client::Credential caller, DirectoryRef directory,
                     PageAheadRef ahead) {
  const InFlightSet::One in_flight(attributes.asked_ahead());
  auto page =
      co_await fetch(attributes.mount(), caller, directory, ahead->asked.cookie, kPageBytes);
  ahead->page = std::move(page);
  ahead->arrived.wake_all();
}

/// A reader that goes on in a directory most likely reads it to its end. Do not look ahead while
/// names in it are changed here, as by rm -r: a page older than a change makes no inodes
/// (inode_of()), so each of its names would be looked up.
void look_ahead(AttributeCache& attributes, const client::Credential& caller,
                const DirectoryRef& directory) {
  const client::DirectoryPage& page = directory->stream.page();
  if (directory->ahead || page.eof || page.entries.empty() || !directory->names_current()) return;
  if (directory->stream.keeps(page.entries.back().cookie)) return;
  if (!attributes.mount().session().has_room(kPartLeft)) return;
  const DirectoryStream::Asked asked{page.entries.back().cookie, attributes.issue(),
                                     directory->inode->epoch()};
  directory->ahead = new PageAhead(attributes.mount().reactor(), asked, caller.uid);
  spawn(ask_ahead(attributes, caller, directory, directory->ahead));
}

/// For how long the names of a page that was asked for then may be believed still.
Duration remaining(AttributeCache& attributes, const Directory& directory, const Issue& issue) {
  const TimePoint end = issue.at + directory.inode->attributes().period();
  return std::max(Duration::zero(), end - attributes.mount().reactor().now());
}

/// Names that are never believed are as good from any page.
bool is_fresh(AttributeCache& attributes, const Directory& directory, const Issue& issue) {
  return directory.inode->attributes().period() == Duration::zero() ||
         remaining(attributes, directory, issue) > Duration::zero();
}

/// The page that `asked` names: the one that was requested ahead, or a new one. If the request
/// ahead failed, no program waited for it, so ask again.
Task<Result<client::DirectoryPage>> page_at(AttributeCache& attributes, client::Credential caller,
                                            DirectoryRef directory, DirectoryStream::Asked& asked) {
  const PageAheadRef ahead = std::exchange(directory->ahead, {});
  const bool of_use = ahead && ahead->asked.cookie == asked.cookie &&
                      ahead->asked.epoch == asked.epoch && ahead->uid == caller.uid &&
                      is_fresh(attributes, *directory, ahead->asked.issue);
  if (of_use) {
    while (!ahead->page) co_await ahead->arrived.wait();
    if (*ahead->page) {
      attributes.count_page_ahead();
      asked = ahead->asked;
      co_return std::move(*ahead->page);
    }
    asked = {asked.cookie, attributes.issue(), directory->inode->epoch()};
  }
  const bool goes_on = asked.cookie == 0 || directory->stream.goes_on_at(asked.cookie);
  const std::uint32_t bytes = goes_on ? kPageBytes : kSoughtBytes;
  auto page = co_await fetch(attributes.mount(), caller, directory, asked.cookie, bytes);
  co_return page;
}

/// A name that was not there when all of them were listed: another client has made one, and of
/// others that it has made nothing is known.
void compare_listed(Directory& directory, const client::Credential& caller) {
  ListedNames* const names = directory.inode->listed();
  if (!names) return;
  const auto is_new = [&](const client::Entry& entry) {
    return names->lacks(entry.name, caller.uid);
  };
  if (std::ranges::any_of(directory.stream.page().entries, is_new)) {
    directory.inode->set_listed(nullptr);
  }
}

/// With this page all names of the directory may be known.
void note_whole(AttributeCache& attributes, const client::Credential& caller,
                Directory& directory) {
  const DirectoryStream::Asked& asked = directory.stream.asked();
  if (asked.cookie == 0) {
    directory.whole.begin(std::make_unique<ListedNames>(attributes.listed_total(), caller.uid));
    directory.whole_epoch = asked.epoch;
    directory.whole_begun = asked.issue.at;
  }
  auto names = directory.whole.add(asked.cookie, directory.stream.page());
  // A name that was made here meanwhile may be behind the place that was read.
  if (!names || directory.whole_epoch != directory.inode->epoch()) return;
  attributes.listed(*directory.inode, std::move(names), directory.whole.change(),
                    directory.whole_begun, asked.issue);
}

}  // namespace

Task<Result<bool>> list_from(AttributeCache& attributes, client::Credential caller,
                             DirectoryRef directory, std::uint64_t cookie) {
  DirectoryStream& stream = directory->stream;
  if (!stream.following(cookie).empty()) {
    if (cookie != 0) look_ahead(attributes, caller, directory);
    co_return false;
  }
  if (stream.ends_after(cookie)) co_return false;
  const auto usable = [&](const DirectoryStream::Asked& before) {
    return before.epoch == directory->inode->epoch() &&
           remaining(attributes, *directory, before.issue) > Duration::zero();
  };
  if (cookie != 0 && stream.turn_back(cookie, usable)) co_return false;
  const bool goes_on = stream.goes_on_at(cookie);
  DirectoryStream::Asked asked{cookie, attributes.issue(), directory->inode->epoch()};
  auto page = co_await page_at(attributes, caller, directory, asked);
  CO_TRY(page);
  if (page->entries.empty() && !page->eof) {
    co_return fail(Error::local(EIO, "READDIR", "neither an entry nor the end"));
  }
  if (!stream.replace(asked, std::move(*page))) {
    co_return fail(Error::local(ELOOP, "READDIR", "the server's cookies lead back to old entries"));
  }
  compare_listed(*directory, caller);
  note_whole(attributes, caller, *directory);
  if (cookie != 0 && goes_on) look_ahead(attributes, caller, directory);
  co_return true;
}

Duration names_remaining(AttributeCache& attributes, const Directory& directory) {
  if (!directory.names_current()) return Duration::zero();
  return remaining(attributes, directory, directory.stream.asked().issue);
}

InodeRef inode_of(AttributeCache& attributes, const Directory& directory,
                  const client::Entry& entry) {
  if (names_remaining(attributes, directory) == Duration::zero()) return {};
  if (!entry.has_attributes || entry.handle.length == 0) return {};
  auto inode = attributes.adopt(entry.handle, entry.attributes, directory.stream.asked().issue);
  if (!inode) return {};
  (*inode)->found_in(*directory.inode);
  return std::move(*inode);
}

}  // namespace nfsrdma::cache
