#include "cache/name/change_names.h"

#include <cerrno>

#include "client/requests/errno.h"
#include "client/requests/lookup.h"
#include "client/requests/remove.h"
#include "client/requests/rename.h"

namespace nfsrdma::cache {
namespace {

Task<Result<void>> remove_name(SillyNames& names, client::Credential caller, const Place& place) {
  auto removed =
      co_await client::remove(names.mount(), caller, place.directory->handle(), place.name);
  CO_TRY(removed);
  names.attributes().names_changed(*place.directory, *removed);
  co_return Result<void>();
}

/// Whether it is known, without asking the server, that no file that is open here loses this name.
/// The delegation of a file that does is returned.
Task<bool> known_unused(SillyNames& names, const Place& place) {
  if (!place.leads_to) co_return false;
  const InodeRef inode = *place.leads_to;
  if (!inode) co_return true;
  if (inode->open()) co_return false;
  co_await names.mount().delegations().give_back(inode->handle());
  co_return !inode->open();  // it may have been opened meanwhile
}

/// Saves a file that is open here from being replaced, if there is one.
Task<Result<KeptFile>> keep_target(SillyNames& names, client::Credential caller, const Place& from,
                                   const Place& to) {
  if (!names.may_matter()) co_return KeptFile();
  const bool unused = co_await known_unused(names, to);
  if (unused) co_return KeptFile();
  auto target = co_await client::lookup(names.mount(), caller, to.directory->handle(), to.name);
  if (!target && client::to_errno(target.error()) == ENOENT) co_return KeptFile();
  CO_TRY(target);
  if (names.to_be_kept(*target)) {
    // Of two names of one file rename(2) removes none: nothing is replaced.
    auto source =
        co_await client::lookup(names.mount(), caller, from.directory->handle(), from.name);
    if (source && source->handle == target->handle) co_return KeptFile();
  }
  auto kept = co_await names.keep(caller, to.directory, to.name, *target, NameIs::replaced);
  co_return kept;
}

/// What is renamed has the data that were written to it before. Those of other files, whose server
/// may be slow or silent, are waited for only where it is not known which file this is.
Task<void> flush_source(WriteBehind& behind, const Place& from) {
  const InodeRef inode = from.leads_to.value_or(InodeRef());
  if (!inode) {
    co_await behind.flush_all();
  } else if (const auto open = inode->open()) {
    co_await behind.flush(open);
  }
}

Task<Result<void>> rename_once(SillyNames& names, client::Credential caller, const Place& from,
                               const Place& to) {
  auto renamed = co_await client::rename(names.mount(), caller, from.directory->handle(), from.name,
                                         to.directory->handle(), to.name);
  if (!renamed) names.attributes().names_unsure(*to.directory);
  CO_TRY(renamed);
  // Both directories and the file itself have changed.
  const bool moved = from.directory != to.directory;
  names.attributes().names_changed(*from.directory, renamed->source,
                                   moved ? std::string_view() : to.name);
  if (moved) names.attributes().names_changed(*to.directory, renamed->target, to.name);
  co_return Result<void>();
}

}  // namespace

Task<Result<void>> unlink(SillyNames& names, client::Credential caller, Place place) {
  // A program that removes names until none is left must not be given one for each.
  const InodeRef named =
      co_await names.in_use_as(caller, place.directory, place.name, place.leads_to);
  if (named) co_return fail(Error::local(EBUSY, "unlink", "the name of a file that is open here"));
  bool unused = !names.may_matter();
  if (!unused) unused = co_await known_unused(names, place);
  if (!unused) {
    auto kept = co_await names.keep_if_open(caller, place.directory, place.name, NameIs::removed);
    CO_TRY(kept);
    if (*kept) co_return Result<void>();
  }
  auto removed = co_await remove_name(names, caller, place);
  co_return removed;
}

Task<Result<void>> remove_directory(SillyNames& names, client::Credential caller, Place place) {
  const std::uint64_t gone = names.removed();
  auto removed = co_await remove_name(names, caller, place);
  if (removed) co_return removed;
  const bool again = co_await names.may_be_empty_now(removed.error(), gone);
  if (again) removed = co_await remove_name(names, caller, place);
  co_return removed;
}

Task<Result<void>> rename(SillyNames& names, WriteBehind& behind, client::Credential caller,
                          Place from, Place to) {
  co_await flush_source(behind, from);
  auto kept = co_await keep_target(names, caller, from, to);
  CO_TRY(kept);
  const InodeRef named = co_await names.in_use_as(caller, from.directory, from.name, from.leads_to);
  const std::uint64_t gone = names.removed();
  auto renamed = co_await rename_once(names, caller, from, to);
  if (!renamed) {
    const bool again = co_await names.may_be_empty_now(renamed.error(), gone);
    if (again) renamed = co_await rename_once(names, caller, from, to);
  }
  if (renamed && named) names.renamed_by_program(*named, *from.directory, from.name);
  if (renamed && *kept) co_await names.replaced(*kept);
  if (!renamed && *kept) co_await names.restore(*kept, to.name);
  co_return renamed;
}

}  // namespace nfsrdma::cache
