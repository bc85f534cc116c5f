#include "client/files/open.h"

#include <cstring>
#include <random>
#include <utility>

#include "client/compound/result_sizes.h"
#include "client/files/setattr.h"
#include "client/mount.h"
#include "client/proto/ops_namespace.h"
#include "client/proto/ops_open.h"
#include "client/requests/steps.h"
#include "client/session/limits.h"
#include "client/session/session.h"
#include "client/state/delegation_table.h"
#include "client/state/open_table.h"
#include "transport/base/log.h"

namespace nfsrdma::client {
namespace {

using namespace nfs4;

/// What of the reply is certain once OPEN has succeeded.
struct Answer {
  stateid4 stateid;
  std::uint32_t rflags;
  bitmap4 attrset;
  std::optional<GrantedDelegation> delegation;
  FileHandle handle;
  Result<Attributes> attributes;
  OwnerNames names;
};

Result<Answer> read_answer(Mount& mount, CompoundReader& results) {
  TRY(steps::pass<PUTFH4res>(results));
  OPEN4res result;
  TRY(results.read(result));
  auto handle = steps::read_handle(results);
  if (!handle) return fail_from(handle);
  const OPEN4resok& ok = result.resok4;
  OwnerNames names;
  auto attributes = steps::read_last_attributes(mount, results, names);
  return Answer{ok.stateid,      ok.rflags,
                ok.attrset,      delegation_of(ok.delegation),
                *handle,         std::move(attributes),
                std::move(names)};
}

OPEN4args open_args(const OpenOwner& owner, clientid4 clientid, std::uint32_t share_access,
                    std::uint32_t want) {
  OPEN4args args;
  args.share_access = share_access | want;
  args.share_deny = OPEN4_SHARE_DENY_NONE;
  args.owner.clientid = clientid;
  args.owner.owner = owner.bytes();
  return args;
}

std::uint32_t want_bits(const Mount& mount, std::uint32_t share_access, Delegating delegating) {
  if (delegating == Delegating::unwanted || !mount.config().delegations) {
    return OPEN4_SHARE_ACCESS_WANT_NO_DELEG;
  }
  const bool writes = (share_access & OPEN4_SHARE_ACCESS_WRITE) != 0;
  return writes ? OPEN4_SHARE_ACCESS_WANT_WRITE_DELEG : OPEN4_SHARE_ACCESS_WANT_READ_DELEG;
}

/// One delegation of a file is enough.
std::uint32_t want_for(Mount& mount, const FileHandle& file, std::uint32_t share_access,
                       Delegating delegating) {
  const bool has = mount.delegations().held(file) != nullptr;
  return want_bits(mount, share_access, has ? Delegating::unwanted : delegating);
}

/// Adds what follows OPEN and gets all of it answered.
Task<Result<Answer>> ask(Mount& mount, CompoundRef compound) {
  steps::add_found(*compound);
  auto answered = co_await mount.session().execute(*compound);
  CO_TRY(answered);
  co_return read_answer(mount, compound->results());
}

/// Who has made a file can open it again as far as its mode lets him; who has opened one, in the
/// same way.
std::uint32_t proven_access(const Credential& caller, std::uint32_t share_access, bool made,
                            const Attributes& attributes) {
  if (!made) return share_access;
  constexpr std::uint32_t kOwnerReads = 0400;
  constexpr std::uint32_t kOwnerWrites = 0200;
  const bool owner =
      attributes.has(FATTR4_OWNER) && attributes.owner.numeric && attributes.owner.id == caller.uid;
  if (!owner) return 0;
  std::uint32_t access = 0;
  if ((attributes.mode & kOwnerReads) != 0) access |= OPEN4_SHARE_ACCESS_READ;
  if ((attributes.mode & kOwnerWrites) != 0) access |= OPEN4_SHARE_ACCESS_WRITE;
  return access;
}

/// How the OPEN was asked for.
struct Asked {
  Credential caller;
  std::uint32_t share_access = 0;
  bool made = false;  ///< the file may have been created
  Delegating delegating = Delegating::wanted;
};

/// What the open means for the delegations: a new one, one more who may use it, opens that cannot
/// stand on it any more.
Task<void> note_delegation(Mount& mount, OpenFileRef file, const Answer& answer, Asked asked,
                           const Attributes& attributes) {
  DelegationTable& delegations = mount.delegations();
  if (answer.delegation) {
    const bool preserve = (answer.rflags & OPEN4_RESULT_PRESERVE_UNLINKED) != 0;
    delegations.take(file, *answer.delegation, attributes, preserve);
  }
  delegations.authorize(*file,
                        proven_access(asked.caller, asked.share_access, asked.made, attributes));
  if (!file->needs_securing()) co_return;
  auto secured = co_await mount.opens().claim(file);
  if (!secured) log::info("{}", secured.error().message());
}

/// `opening`: ends when the answer has been merged.
Task<Result<Opened>> complete(Mount& mount, Asked asked, Answer answer,
                              std::optional<OpenTable::Opening> opening = {}) {
  Opened opened;
  opened.handle = answer.handle;
  opened.open =
      mount.opens().merge(asked.caller, answer.handle, asked.share_access, answer.stateid);
  if (opening) opening->end();
  opened.preserve_unlinked = (answer.rflags & OPEN4_RESULT_PRESERVE_UNLINKED) != 0;
  const OpenFileRef file = opened.open.file();
  auto attributes = co_await steps::or_fetch(mount, asked.caller, answer.handle,
                                             std::move(answer.attributes), std::move(answer.names));
  const bool wanted = asked.delegating == Delegating::wanted && mount.config().delegations;
  if (answer.delegation && !(attributes && wanted)) {
    mount.session().background().start(
        send_delegreturn(mount, asked.caller, answer.handle, answer.delegation->stateid));
    answer.delegation.reset();
  }
  CO_TRY(attributes);
  opened.attributes = *attributes;
  file->set_fileid(attributes->fileid);
  co_await note_delegation(mount, file, answer, asked, opened.attributes);
  co_return opened;
}

verifier4 random_verifier() {
  thread_local std::mt19937_64 random(std::random_device{}());
  const std::uint64_t value = random();
  verifier4 verifier;
  std::memcpy(verifier.data(), &value, verifier.size());
  return verifier;
}

/// How a file is to be created, and what must be set once it is there.
struct Creation {
  createmode4 mode = UNCHECKED4;
  Attributes wanted;  ///< all that the caller wants set
  bitmap4 in_open;    ///< the part that OPEN itself is asked to set
};

Creation plan(const Mount& mount, CreateMode mode, const SetAttributes& initial) {
  Creation creation;
  creation.wanted = steps::settable(initial);
  creation.in_open = creation.wanted.present;
  switch (mode) {
    case CreateMode::unchecked: creation.mode = UNCHECKED4; break;
    case CreateMode::guarded: creation.mode = GUARDED4; break;
    case CreateMode::exclusive:
      creation.mode = EXCLUSIVE4_1;
      creation.in_open = creation.in_open & mount.exclusive_attributes();
      break;
  }
  return creation;
}

void add_create(Compound& compound, const Creation& creation, std::string_view name,
                OPEN4args args) {
  const steps::EncodedAttributes encoded(creation.wanted, creation.in_open);
  createhow4& how = args.openhow.how;
  args.openhow.opentype = OPEN4_CREATE;
  how.mode = creation.mode;
  if (creation.mode == EXCLUSIVE4_1) {
    how.ch_createboth = {random_verifier(), encoded.view()};
  } else {
    how.createattrs = encoded.view();
  }
  args.claim.claim = CLAIM_NULL;
  args.claim.file = name;
  compound.add_modifying(args, result_size::kOpen);
}

/// Whether attrset says that the server keeps the verifier in a time: by the attribute that was
/// changed, as Linux and NFS-Ganesha do, or by the one that sets it.
bool holds_verifier(const bitmap4& attrset, std::uint32_t time, std::uint32_t setter) {
  return attrset.test(time) || attrset.test(setter);
}

// EXCLUSIVE4_1 may keep its verifier in attributes, which it reports in attrset, and may leave out
// what was asked (RFC 8881 section 18.16.3). The rest is set once the file is there.
SetAttributes still_to_set(const Creation& creation, const SetAttributes& initial,
                           const bitmap4& attrset) {
  SetAttributes rest;
  const bitmap4 missing = creation.wanted.present - (attrset & creation.in_open);
  if (missing.test(FATTR4_SIZE)) rest.size = initial.size;
  if (missing.test(FATTR4_MODE)) rest.mode = initial.mode;
  if (missing.test(FATTR4_OWNER)) rest.uid = initial.uid;
  if (missing.test(FATTR4_OWNER_GROUP)) rest.gid = initial.gid;
  if (missing.test(FATTR4_TIME_ACCESS_SET)) rest.access_time = initial.access_time;
  if (missing.test(FATTR4_TIME_MODIFY_SET)) rest.modify_time = initial.modify_time;
  const bitmap4 taken = attrset - creation.in_open;
  const bool access_time = holds_verifier(taken, FATTR4_TIME_ACCESS, FATTR4_TIME_ACCESS_SET);
  const bool modify_time = holds_verifier(taken, FATTR4_TIME_MODIFY, FATTR4_TIME_MODIFY_SET);
  if (access_time && !rest.access_time) rest.access_time = initial.access_time.value_or(SetTime{});
  if (modify_time && !rest.modify_time) rest.modify_time = initial.modify_time.value_or(SetTime{});
  return rest;
}

}  // namespace

std::optional<OpenedLocally> open_locally(Mount& mount, const Credential& caller,
                                          const FileHandle& file, std::uint32_t share_access) {
  OpenRef open = mount.opens().open_locally(caller, file, share_access);
  if (!open) return std::nullopt;
  const bool preserve_unlinked = open->delegation()->preserve_unlinked();
  return OpenedLocally{std::move(open), preserve_unlinked};
}

Task<Result<Opened>> open(Mount& mount, Credential caller, FileHandle file,
                          std::uint32_t share_access, Delegating delegating) {
  auto beginning = mount.opens().begin_open(caller, file);
  OpenTable::Opening opening = co_await beginning;
  const DelegationTable::Asking asking(mount.delegations());
  CompoundRef compound = co_await mount.session().compound(caller);
  if (!compound) co_return fail(steps::ending());
  steps::add_handle(*compound, file);
  {
    const OpenOwner owner(caller.uid);
    const std::uint32_t want = want_for(mount, file, share_access, delegating);
    OPEN4args args = open_args(owner, mount.clientid(), share_access, want);
    args.claim.claim = CLAIM_FH;
    compound->add_modifying(args, result_size::kOpen);
  }
  auto answer = co_await ask(mount, std::move(compound));
  CO_TRY(answer);
  answer->handle = file;  // CLAIM_FH opens what is named, however the server spells it
  const Asked asked{caller, share_access, /*made=*/false, delegating};
  auto opened = co_await complete(mount, asked, std::move(*answer), std::move(opening));
  co_return opened;
}

Task<Result<Opened>> open_by_name(Mount& mount, Credential caller, FileHandle dir,
                                  std::string_view name, std::uint32_t share_access) {
  const steps::Name kept(name);
  const DelegationTable::Asking asking(mount.delegations());
  CompoundRef compound = co_await mount.session().compound(caller);
  if (!compound) co_return fail(steps::ending());
  steps::add_handle(*compound, dir);
  {
    const OpenOwner owner(caller.uid);
    const std::uint32_t want = want_bits(mount, share_access, Delegating::wanted);
    OPEN4args args = open_args(owner, mount.clientid(), share_access, want);
    args.claim.claim = CLAIM_NULL;
    args.claim.file = kept.view();
    compound->add_modifying(args, result_size::kOpen);
  }
  auto answer = co_await ask(mount, std::move(compound));
  CO_TRY(answer);
  const Asked asked{caller, share_access, /*made=*/false};
  auto opened = co_await complete(mount, asked, std::move(*answer));
  co_return opened;
}

Task<Result<Opened>> create(Mount& mount, Credential caller, FileHandle dir, std::string_view name,
                            CreateMode mode, SetAttributes initial, std::uint32_t share_access,
                            Delegating delegating) {
  const steps::Name kept(name);
  const DelegationTable::Asking asking(mount.delegations());
  CompoundRef compound = co_await mount.session().compound(caller);
  if (!compound) co_return fail(steps::ending());
  const Creation creation = plan(mount, mode, initial);
  steps::add_handle(*compound, dir);
  {
    const OpenOwner owner(caller.uid);
    const std::uint32_t want = want_bits(mount, share_access, delegating);
    add_create(*compound, creation, kept.view(),
               open_args(owner, mount.clientid(), share_access, want));
  }
  auto answer = co_await ask(mount, std::move(compound));
  CO_TRY(answer);
  const bitmap4 attrset = answer->attrset;
  const Asked asked{caller, share_access, /*made=*/true, delegating};
  auto opened = co_await complete(mount, asked, std::move(*answer));
  CO_TRY(opened);
  if (mode != CreateMode::exclusive) co_return opened;
  const SetAttributes rest = still_to_set(creation, initial, attrset);
  if (rest.empty()) co_return opened;
  auto changed = co_await setattr(mount, caller, opened->handle, opened->open.state(), rest);
  CO_TRY(changed);
  opened->attributes = changed->attributes;
  co_return opened;
}

}  // namespace nfsrdma::client
