#include "cache/name/silly_names.h"

#include <fmt/format.h>

#include <cerrno>

#include "client/requests/errno.h"
#include "client/requests/link.h"
#include "client/requests/lookup.h"
#include "client/requests/remove.h"
#include "client/requests/rename.h"
#include "transport/base/log.h"

namespace nfsrdma::cache {
namespace {

constexpr int kNamesTried = 16;
constexpr std::string_view kPrefix = ".nfs";

}  // namespace

// The open file that loses its last name with this one; null if no file has to be kept.
InodeRef SillyNames::open_file_of(const client::Found& found) const {
  const bool last_name =
      !found.attributes.has(nfs4::FATTR4_NUMLINKS) || found.attributes.numlinks <= 1;
  InodeRef inode = index_.find(found.handle);
  if (!inode || !last_name) return {};
  const auto open = inode->open();
  if (!open || open->files.empty() || open->preserve_unlinked) return {};
  return inode;
}

// A name that is not taken, not even by a leftover of an earlier mount.
Task<Result<std::string>> SillyNames::free_name(client::Credential caller, InodeRef directory,
                                                InodeRef inode) {
  for (int i = 0; i < kNamesTried; ++i) {
    std::string name =
        fmt::format("{}{:016x}{:08x}", kPrefix, inode->attributes().value().fileid, ++given_);
    auto found = co_await client::lookup(mount_, caller, directory->handle(), name);
    if (found) continue;
    if (client::to_errno(found.error()) != ENOENT) co_return fail_from(found);
    co_return name;
  }
  co_return fail(Error::local(EBUSY, "silly rename", "all names tried are taken"));
}

// Gives the file a silly name: beside `name`, or instead of it.
Task<Result<SillyName>> SillyNames::give(client::Credential caller, InodeRef inode,
                                         InodeRef directory, std::string name, NameIs next) {
  auto free = co_await free_name(caller, directory, inode);
  CO_TRY(free);
  SillyName silly{directory, std::move(*free), caller};
  if (next == NameIs::replaced) {
    auto linked =
        co_await client::link(mount_, caller, inode->handle(), directory->handle(), silly.name);
    silly.beside_another = linked.has_value();
    if (linked) attributes_.names_changed(*directory, linked->directory, silly.name);
  }
  if (!silly.beside_another) {
    auto renamed = co_await client::rename(mount_, caller, directory->handle(), name,
                                           directory->handle(), silly.name);
    if (!renamed) attributes_.names_unsure(*directory);
    CO_TRY(renamed);
    attributes_.names_changed(*directory, renamed->source, silly.name);
  }
  co_return silly;
}

bool SillyNames::has_name(const Inode& inode, const Inode& directory, std::string_view name) {
  const auto open = inode.open();
  if (!open || !open->in_use() || !open->silly) return false;
  return open->silly->directory.get() == &directory && open->silly->name == name;
}

Task<InodeRef> SillyNames::in_use_as(client::Credential caller, InodeRef directory,
                                     std::string name, std::optional<InodeRef> leads_to) {
  if (open_files_ == 0 || !name.starts_with(kPrefix)) co_return InodeRef();
  InodeRef inode = leads_to.value_or(InodeRef());
  if (!leads_to) {
    auto found = co_await client::lookup(mount_, caller, directory->handle(), name);
    if (found) inode = index_.find(found->handle);
  }
  if (!inode || !has_name(*inode, *directory, name)) inode.reset();
  co_return inode;
}

void SillyNames::renamed_by_program(Inode& inode, const Inode& directory, std::string_view name) {
  // The last close may have taken it away meanwhile.
  if (!has_name(inode, directory, name)) return;
  const auto open = inode.open();
  open->silly.reset();
  open->removal.reset();
  attributes_.doubt(inode);  // a link more
}

Task<Result<KeptFile>> SillyNames::keep_if_open(client::Credential caller, InodeRef directory,
                                                std::string name, NameIs next) {
  if (!may_matter()) co_return KeptFile();
  auto found = co_await client::lookup(mount_, caller, directory->handle(), name);
  CO_TRY(found);
  auto kept = co_await keep(caller, std::move(directory), std::move(name), *found, next);
  co_return kept;
}

Task<Result<KeptFile>> SillyNames::keep(client::Credential caller, InodeRef directory,
                                        std::string name, client::Found found, NameIs next) {
  const InodeRef inode = open_file_of(found);
  if (!inode) {
    co_await mount_.delegations().give_back(found.handle);
    co_return KeptFile();
  }
  const KeptFile kept{inode, inode->open()};
  auto silly = co_await give(caller, inode, directory, std::move(name), next);
  CO_TRY(silly);
  silly->undecided = next == NameIs::replaced && !silly->beside_another;
  kept.open->silly = std::move(*silly);
  announce_removal(*kept.open);
  co_await after_close(kept.inode, kept.open);  // it may have been closed meanwhile
  co_return kept;
}

// While a rename(2) goes on, the directory that it finds not empty is not to wait for what it has
// done itself.
void SillyNames::announce_removal(OpenInode& open) {
  const bool going = open.silly && !open.silly->undecided && !open.in_use();
  if (going && !open.removal) open.removal.emplace(removals_);
}

Task<void> SillyNames::after_close(InodeRef inode, std::shared_ptr<OpenInode> open) {
  if (!open->files.empty() || open->closes > 0) co_return;
  if (!open->silly || open->silly->undecided) co_return;
  SillyName silly = std::move(*open->silly);
  open->silly.reset();
  co_await mount_.delegations().give_back(inode->handle());
  co_await remove(std::move(silly));
  open->removal.reset();
}

Task<void> SillyNames::replaced(KeptFile kept) {
  if (!kept.open->silly) co_return;
  kept.open->silly->undecided = false;
  announce_removal(*kept.open);
  co_await after_close(kept.inode, kept.open);
}

Task<void> SillyNames::restore(KeptFile kept, std::string name) {
  const std::shared_ptr<OpenInode> open = kept.open;
  if (!open->silly) co_return;
  SillyName silly = *open->silly;
  if (silly.beside_another) {
    open->silly.reset();
    open->removal.reset();
    co_await remove(std::move(silly));
    co_return;
  }
  // Also when the caller is gone: else nothing would give the file its name back.
  auto renamed =
      co_await client::rename(mount_, silly.caller, silly.directory->handle(), silly.name,
                              silly.directory->handle(), name, client::WithoutCaller::goes_on);
  if (!renamed) attributes_.names_unsure(*silly.directory);
  attributes_.names_changed(*silly.directory, renamed ? renamed->source : client::NameChange(),
                            name);
  if (!renamed) {
    log::warning("{} in the directory with inode {} is what {} was, rename it by hand: {}",
                 silly.name, silly.directory->attributes().value().fileid, name,
                 renamed.error().message());
  }
  // Without its name back, too: the last close must not remove the only one that it has.
  open->silly.reset();
}

Task<bool> SillyNames::may_be_empty_now(Error error, std::uint64_t removed) {
  const int error_number = client::to_errno(error);
  if (error_number != ENOTEMPTY && error_number != EEXIST) co_return false;
  co_await removals_.wait();
  co_return removals_.ended() != removed;
}

Task<void> SillyNames::remove(SillyName silly) {
  auto gone = co_await client::remove(mount_, silly.caller, silly.directory->handle(), silly.name,
                                      client::WithoutCaller::goes_on);
  if (!gone && client::to_errno(gone.error()) != ENOENT) {
    log::warning("{} in the directory with inode {} is left over, remove it by hand: {}",
                 silly.name, silly.directory->attributes().value().fileid, gone.error().message());
  }
  attributes_.names_changed(*silly.directory, gone ? *gone : client::NameChange());
}

}  // namespace nfsrdma::cache
