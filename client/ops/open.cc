#include "client/ops/open.h"

#include <cstring>
#include <random>
#include <utility>

#include "client/compound/result_sizes.h"
#include "client/mount.h"
#include "client/ops/setattr.h"
#include "client/ops/steps.h"
#include "client/proto/ops_lock.h"
#include "client/proto/ops_namespace.h"
#include "client/proto/ops_open.h"
#include "client/session/limits.h"
#include "client/session/session.h"
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
  std::optional<stateid4> delegation;
  FileHandle handle;
  Result<Attributes> attributes;
};

std::optional<stateid4> delegation_of(const OPEN4resok& open) {
  switch (open.delegation.delegation_type) {
    case OPEN_DELEGATE_READ: return open.delegation.read.stateid;
    case OPEN_DELEGATE_WRITE: return open.delegation.write.stateid;
    case OPEN_DELEGATE_NONE:
    case OPEN_DELEGATE_NONE_EXT: break;
  }
  return std::nullopt;
}

Result<Answer> read_answer(Mount& mount, CompoundReader& results) {
  TRY(steps::pass<PUTFH4res>(results));
  OPEN4res result;
  TRY(results.read(result));
  auto handle = steps::read_handle(results);
  if (!handle) return fail_from(handle);
  const OPEN4resok& ok = result.resok4;
  return Answer{ok.stateid,        ok.rflags, ok.attrset,
                delegation_of(ok), *handle,   steps::read_last_attributes(mount, results)};
}

OPEN4args open_args(const OpenOwner& owner, clientid4 clientid, std::uint32_t share_access) {
  OPEN4args args;
  args.share_access = share_access | OPEN4_SHARE_ACCESS_WANT_NO_DELEG;
  args.share_deny = OPEN4_SHARE_DENY_NONE;
  args.owner.clientid = clientid;
  args.owner.owner = owner.bytes();
  return args;
}

// Nobody asked for it, and nothing here would honour a recall.
Task<void> return_delegation(Mount& mount, Caller caller, FileHandle handle, stateid4 stateid) {
  CompoundRef compound = co_await mount.session().compound(caller);
  if (!compound) co_return;
  steps::add_handle(*compound, handle);
  compound->add_modifying(DELEGRETURN4args{stateid}, result_size::kNothing);
  auto answered = co_await mount.session().execute(*compound);
  if (!answered) co_return;
  auto passed = steps::pass<PUTFH4res, DELEGRETURN4res>(compound->results());
  if (!passed) log::warning("{}", passed.error().message());
}

/// Adds what follows OPEN and gets all of it answered.
Task<Result<Answer>> ask(Mount& mount, CompoundRef compound) {
  steps::add_found(*compound);
  auto answered = co_await mount.session().execute(*compound);
  CO_TRY(answered);
  co_return read_answer(mount, compound->results());
}

Task<Result<Opened>> complete(Mount& mount, Caller caller, Answer answer,
                              std::uint32_t share_access) {
  Opened opened;
  opened.handle = answer.handle;
  opened.open = mount.opens().merge(caller, answer.handle, share_access, answer.stateid);
  opened.preserve_unlinked = (answer.rflags & OPEN4_RESULT_PRESERVE_UNLINKED) != 0;
  if (answer.delegation) {
    mount.session().background().start(
        return_delegation(mount, caller, answer.handle, *answer.delegation));
  }
  auto attributes =
      co_await steps::or_fetch(mount, caller, answer.handle, std::move(answer.attributes));
  CO_TRY(attributes);
  opened.attributes = *attributes;
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
  if (taken.test(FATTR4_TIME_ACCESS_SET) && !rest.access_time) rest.access_time = SetTime{};
  if (taken.test(FATTR4_TIME_MODIFY_SET) && !rest.modify_time) rest.modify_time = SetTime{};
  return rest;
}

}  // namespace

Task<Result<Opened>> open(Mount& mount, Caller caller, FileHandle file,
                          std::uint32_t share_access) {
  CompoundRef compound = co_await mount.session().compound(caller);
  if (!compound) co_return fail(steps::ending());
  steps::add_handle(*compound, file);
  {
    const OpenOwner owner(caller.uid);
    OPEN4args args = open_args(owner, mount.clientid(), share_access);
    args.claim.claim = CLAIM_FH;
    compound->add_modifying(args, result_size::kOpen);
  }
  auto answer = co_await ask(mount, std::move(compound));
  CO_TRY(answer);
  auto opened = co_await complete(mount, caller, std::move(*answer), share_access);
  co_return opened;
}

Task<Result<Opened>> open_by_name(Mount& mount, Caller caller, FileHandle dir,
                                  std::string_view name, std::uint32_t share_access) {
  const steps::Name kept(name);
  CompoundRef compound = co_await mount.session().compound(caller);
  if (!compound) co_return fail(steps::ending());
  steps::add_handle(*compound, dir);
  {
    const OpenOwner owner(caller.uid);
    OPEN4args args = open_args(owner, mount.clientid(), share_access);
    args.claim.claim = CLAIM_NULL;
    args.claim.file = kept.view();
    compound->add_modifying(args, result_size::kOpen);
  }
  auto answer = co_await ask(mount, std::move(compound));
  CO_TRY(answer);
  auto opened = co_await complete(mount, caller, std::move(*answer), share_access);
  co_return opened;
}

Task<Result<Opened>> create(Mount& mount, Caller caller, FileHandle dir, std::string_view name,
                            CreateMode mode, SetAttributes initial, std::uint32_t share_access) {
  const steps::Name kept(name);
  CompoundRef compound = co_await mount.session().compound(caller);
  if (!compound) co_return fail(steps::ending());
  const Creation creation = plan(mount, mode, initial);
  steps::add_handle(*compound, dir);
  {
    const OpenOwner owner(caller.uid);
    add_create(*compound, creation, kept.view(), open_args(owner, mount.clientid(), share_access));
  }
  auto answer = co_await ask(mount, std::move(compound));
  CO_TRY(answer);
  const bitmap4 attrset = answer->attrset;
  auto opened = co_await complete(mount, caller, std::move(*answer), share_access);
  CO_TRY(opened);
  if (mode != CreateMode::exclusive) co_return opened;
  const SetAttributes rest = still_to_set(creation, initial, attrset);
  if (rest.empty()) co_return opened;
  auto attributes = co_await setattr(mount, caller, opened->handle, opened->open.state(), rest);
  CO_TRY(attributes);
  opened->attributes = *attributes;
  co_return opened;
}

}  // namespace nfsrdma::client
