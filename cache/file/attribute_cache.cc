#include "cache/file/attribute_cache.h"

#include <cerrno>

#include "cache/attr/from_server.h"
#include "client/files/delegations.h"
#include "client/requests/getattr.h"

namespace nfsrdma::cache {

AttributeCache::Outcome AttributeCache::learn(Inode& inode, const client::Attributes& fresh,
                                              const Issue& issue, ChangedBy by) {
  CachedAttributes& known = inode.attributes();
  // Without a base, or without a change attribute to order by, a part of the attributes is no use.
  if (!fresh.has(nfs4::FATTR4_CHANGE) || (!known.known() && !describes_file(fresh))) {
    known.expire();
    return Outcome::older;
  }
  FileAttributes whole = known.value();
  const std::uint64_t change = whole.change;
  apply(fresh, whole);
  if (by.before) observer_.on_own_change(inode, *by.before, fresh.change);
  const Outcome outcome = known.store(whole, issue, clock_, policy_);
  // Another client may have written. What this one has is dropped where it writes.
  if (outcome == Outcome::changed && by.before != change) {
    if (const auto open = inode.open()) open->drop_read_ahead();
  }
  // Nobody, until the name service tells: to be asked again, delegation or not.
  if (outcome != Outcome::older && !owners_known(fresh)) known.expire();
  // What others have removed, made or renamed must not be found, or missed, for as long as names
  // are believed.
  if (outcome == Outcome::changed && inode.is_directory() &&
      inode.changed_by_others(fresh.change)) {
    observer_.on_names_changed(inode);
  }
  return outcome;
}

Result<InodeRef> AttributeCache::adopt(const client::FileHandle& handle,
                                       const client::Attributes& attributes, const Issue& issue) {
  InodeRef inode;
  if (describes_file(attributes)) {
    inode = inodes_.obtain(handle, attributes.fileid, type_bits(attributes.type));
  }
  if (!inode) {
    return fail(Error::local(EIO, "file attributes",
                             "the server does not say what it is, or there are too many inodes"));
  }
  learn(*inode, attributes, issue, ChangedBy::anyone);
  return inode;
}

Task<Result<AttributeCache::Outcome>> AttributeCache::revalidate(InodeRef inode,
                                                                 client::Credential caller) {
  const Issue asked = issue();
  auto attributes = co_await client::getattr(mount_, caller, inode->handle());
  CO_TRY(attributes);
  co_return learn(*inode, *attributes, asked, ChangedBy::anyone);
}

bool AttributeCache::fresh(const Inode& inode) const {
  if (!inode.attributes().newer_than(names_changed_at_)) return false;
  return remaining(inode) > Duration::zero() || delegated(inode);
}

// A recall tells before another client can change the file.
bool AttributeCache::delegated(const Inode& inode) const {
  return inode.attributes().stands() && mount_.delegations().held(inode.handle());
}

void AttributeCache::names_changed(Inode& directory, const client::NameChange& change) {
  directory.count_change(change);
  directory.attributes().expire();
  names_changed_at_ = clock_.last();
}

}  // namespace nfsrdma::cache
