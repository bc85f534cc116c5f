#include "client/files/open.h"

#include <utility>

#include "client/files/files.h"
#include "client/files/setattr.h"
#include "client/requests/access.h"
#include "client/requests/delegreturn.h"
#include "client/requests/open.h"
#include "client/requests/steps.h"
#include "transport/base/log.h"

namespace nfsrdma::client {
namespace {

using namespace nfs4;

std::uint32_t want_bits(const Files& files, std::uint32_t share_access, Delegating delegating) {
  if (delegating == Delegating::unwanted || !files.delegations_wanted) {
    return OPEN4_SHARE_ACCESS_WANT_NO_DELEG;
  }
  const bool writes = (share_access & OPEN4_SHARE_ACCESS_WRITE) != 0;
  return writes ? OPEN4_SHARE_ACCESS_WANT_WRITE_DELEG : OPEN4_SHARE_ACCESS_WANT_READ_DELEG;
}

/// One delegation of a file is enough.
std::uint32_t want_for(Files& files, const FileHandle& file, std::uint32_t share_access,
                       Delegating delegating) {
  const bool has = files.delegation_table.held(file) != nullptr;
  return want_bits(files, share_access, has ? Delegating::unwanted : delegating);
}

/// How the OPEN was asked for.
struct Asked {
  Credential caller;
  OpenFor use;
  bool made = false;  ///< the file may have been created
  Delegating delegating = Delegating::wanted;
  std::uint32_t rights = 0;  ///< that the server was asked about
  bool creating = false;     ///< with O_CREAT
};

bool owns(const Credential& caller, const Attributes& attributes) {
  return attributes.has(FATTR4_OWNER) && attributes.owner.numeric &&
         attributes.owner.id == caller.uid;
}

/// The file was there before. The owner's own file may nevertheless have been made by this: two
/// changes of a directory within a tick of the server's clock have one change attribute.
bool refuses(const Asked& asked, std::uint32_t refused, const Attributes& attributes) {
  if (asked.made || (refused & asked.use.right()) == 0) return false;
  return !asked.creating || !owns(asked.caller, attributes);
}

/// Nothing was made in the directory.
bool unchanged(const NameChange& directory) {
  return directory && directory->atomic && directory->before == directory->after;
}

/// The rights that OPEN does not tell apart.
std::uint32_t rights_to_ask(OpenFor use) {
  return use.reads() ? ACCESS4_READ | ACCESS4_EXECUTE : 0;
}

/// What the server has proven for this caller: what it opened with, as far as ACCESS says so, or,
/// for a file it may have created, what the owner's mode bits allow.
std::uint32_t proven_access(const Asked& asked, std::uint32_t refused,
                            const Attributes& attributes) {
  std::uint32_t access = 0;
  if (!asked.made) {
    access = asked.use.share_access;
    const std::uint32_t granted = asked.rights & ~refused;
    if ((granted & ACCESS4_READ) == 0) access &= ~OPEN4_SHARE_ACCESS_READ;
    if ((granted & ACCESS4_EXECUTE) != 0) access |= Delegation::kExecutes;
    return access;
  }
  constexpr std::uint32_t kOwnerReads = 0400;
  constexpr std::uint32_t kOwnerWrites = 0200;
  if (!owns(asked.caller, attributes)) return 0;
  if ((attributes.mode & kOwnerReads) != 0) access |= OPEN4_SHARE_ACCESS_READ;
  if ((attributes.mode & kOwnerWrites) != 0) access |= OPEN4_SHARE_ACCESS_WRITE;
  return access;
}

/// Updates the delegations after an open: a new one, one more authorized caller, or opens that a
/// delegation no longer covers.
Task<void> note_delegation(Files& files, OpenFileRef file, const OpenAnswer& answer, Asked asked,
                           std::uint32_t refused, const Attributes& attributes) {
  if (answer.granted.delegation) {
    const bool preserve = (answer.granted.rflags & OPEN4_RESULT_PRESERVE_UNLINKED) != 0;
    files.delegations.take(file, *answer.granted.delegation, attributes, preserve);
  }
  files.delegation_table.authorize(file->handle(), asked.caller,
                                   proven_access(asked, refused, attributes));
  if (!file->needs_claiming()) co_return;
  auto claimed = co_await files.opens.claim(file);
  if (!claimed) log::info("{}", claimed.error().message());
}

/// The rights that the server refuses to a caller whom it has let open the file. Asks once more
/// where it was not asked with OPEN, or has put ACCESS off.
Task<Result<std::uint32_t>> refused_rights(Files& files, Asked asked, FileHandle file,
                                           std::optional<std::uint32_t> refused) {
  if (asked.rights == 0) co_return 0;
  if (refused) co_return *refused;
  auto granted = co_await access(files.context, asked.caller, file, asked.rights);
  CO_TRY(granted);
  co_return asked.rights & ~*granted;
}

/// `opening`: ends when the answer has been merged.
Task<Result<Opened>> complete(Files& files, Asked asked, OpenAnswer answer,
                              std::optional<OpenTable::Opening> opening = {}) {
  Opened opened;
  opened.handle = answer.handle;
  opened.open = files.opens.merge(asked.caller, answer.handle, asked.use.share_access,
                                  answer.granted.stateid);
  if (opening) opening->end();
  opened.preserve_unlinked = (answer.granted.rflags & OPEN4_RESULT_PRESERVE_UNLINKED) != 0;
  const OpenFileRef file = opened.open.file();
  const std::uint64_t times_forgotten = files.delegation_table.times_forgotten();
  auto attributes = co_await steps::or_fetch(files.context, asked.caller, answer.handle,
                                             std::move(answer.attributes), std::move(answer.names));
  auto refused = co_await refused_rights(files, asked, answer.handle, answer.refused);
  // The open has been reclaimed without it.
  if (files.delegation_table.times_forgotten() != times_forgotten) {
    answer.granted.delegation.reset();
  }
  const bool wanted = asked.delegating == Delegating::wanted && files.delegations_wanted;
  if (answer.granted.delegation && !(attributes && refused && wanted)) {
    files.context.session.background().start(delegreturn_quietly(
        files.context, asked.caller, answer.handle, answer.granted.delegation->stateid));
    answer.granted.delegation.reset();
  }
  CO_TRY(attributes);
  opened.attributes = *attributes;
  file->set_fileid(attributes->fileid);
  CO_TRY(refused);
  co_await note_delegation(files, file, answer, asked, *refused, opened.attributes);
  // The last reference to the open closes it.
  if (refuses(asked, *refused, opened.attributes)) {
    co_return fail(Error{Layer::nfs, NFS4ERR_ACCESS, "ACCESS", {}});
  }
  co_return opened;
}

NewFile plan(const Files& files, CreateMode mode, const SetAttributes& initial) {
  NewFile file;
  file.attributes = steps::settable(initial);
  file.in_open = file.attributes.present;
  switch (mode) {
    case CreateMode::unchecked: file.mode = UNCHECKED4; break;
    case CreateMode::guarded: file.mode = GUARDED4; break;
    case CreateMode::exclusive:
      file.mode = EXCLUSIVE4_1;
      file.in_open = file.in_open & files.exclusive_attributes;
      break;
  }
  return file;
}

/// Whether attrset says that the server keeps the verifier in a time: by the attribute that was
/// changed, as Linux and NFS-Ganesha do, or by the one that sets it.
bool holds_verifier(const bitmap4& attrset, std::uint32_t time, std::uint32_t setter) {
  return attrset.test(time) || attrset.test(setter);
}

// With EXCLUSIVE4_1 a server may keep the verifier in attributes, reported in attrset, and ignore
// attributes of the request (RFC 8881 section 18.16.3). SETATTR sets those afterwards.
SetAttributes still_to_set(const NewFile& file, const SetAttributes& initial,
                           const bitmap4& attrset) {
  SetAttributes rest;
  const bitmap4 missing = file.attributes.present - (attrset & file.in_open);
  if (missing.test(FATTR4_SIZE)) rest.size = initial.size;
  if (missing.test(FATTR4_MODE)) rest.mode = initial.mode;
  if (missing.test(FATTR4_OWNER)) rest.uid = initial.uid;
  if (missing.test(FATTR4_OWNER_GROUP)) rest.gid = initial.gid;
  if (missing.test(FATTR4_TIME_ACCESS_SET)) rest.access_time = initial.access_time;
  if (missing.test(FATTR4_TIME_MODIFY_SET)) rest.modify_time = initial.modify_time;
  const bitmap4 taken = attrset - file.in_open;
  const bool access_time = holds_verifier(taken, FATTR4_TIME_ACCESS, FATTR4_TIME_ACCESS_SET);
  const bool modify_time = holds_verifier(taken, FATTR4_TIME_MODIFY, FATTR4_TIME_MODIFY_SET);
  if (access_time && !rest.access_time) rest.access_time = initial.access_time.value_or(SetTime{});
  if (modify_time && !rest.modify_time) rest.modify_time = initial.modify_time.value_or(SetTime{});
  return rest;
}

}  // namespace

std::optional<OpenedLocally> open_locally(Files& files, const Credential& caller,
                                          const FileHandle& file, OpenFor use) {
  OpenRef open = files.opens.open_locally(caller, file, use);
  if (!open) return std::nullopt;
  const bool preserve_unlinked = open->delegation()->preserve_unlinked();
  return OpenedLocally{std::move(open), preserve_unlinked};
}

Task<Result<Opened>> open(Files& files, Credential caller, FileHandle file, OpenFor use,
                          Delegating delegating, ReadSink first, std::optional<NameOfFile> by) {
  files.context.session.hurry();  // the file's CLOSE, which begin_open() waits for
  auto beginning = files.open_table.begin_open(caller, file);
  OpenTable::Opening opening = co_await beginning;
  const Delegations::Asking asking(files.delegations);
  OpenRequest request;
  request.object = file;
  request.share_access = use.share_access;
  request.want = want_for(files, file, use.share_access, delegating);
  request.rights = rights_to_ask(use);
  request.first = first;
  request.by = by;
  auto answer = co_await send_open(files.context, caller, request);
  CO_TRY(answer);
  answer->handle = file;  // CLAIM_FH opens this handle, even if the server answers another one
  const Asked asked{caller, use, /*made=*/false, delegating, request.rights};
  std::optional<ReadData> first_bytes = std::move(answer->first);
  auto opened = co_await complete(files, asked, std::move(*answer), std::move(opening));
  if (opened) opened->first_bytes = std::move(first_bytes);
  co_return opened;
}

Task<Result<Opened>> open_by_name(Files& files, Credential caller, FileHandle dir,
                                  std::string_view name, OpenFor use) {
  const steps::Name copy(name);
  const Delegations::Asking asking(files.delegations);
  OpenRequest request;
  request.object = dir;
  request.share_access = use.share_access;
  request.want = want_bits(files, use.share_access, Delegating::wanted);
  request.rights = rights_to_ask(use);
  request.claim = CLAIM_NULL;
  request.name = copy.view();
  auto answer = co_await send_open(files.context, caller, request);
  CO_TRY(answer);
  const Asked asked{caller, use, /*made=*/false, Delegating::wanted, request.rights};
  auto opened = co_await complete(files, asked, std::move(*answer));
  co_return opened;
}

Task<Result<Opened>> create(Files& files, Credential caller, FileHandle dir, std::string_view name,
                            CreateMode mode, SetAttributes initial, OpenFor use,
                            Delegating delegating) {
  const steps::Name copy(name);
  const Delegations::Asking asking(files.delegations);
  const NewFile file = plan(files, mode, initial);
  OpenRequest request;
  request.object = dir;
  request.share_access = use.share_access;
  request.want = want_bits(files, use.share_access, delegating);
  if (mode == CreateMode::unchecked) request.rights = rights_to_ask(use);
  request.claim = CLAIM_NULL;
  request.name = copy.view();
  request.new_file = &file;
  auto answer = co_await send_open(files.context, caller, request);
  CO_TRY(answer);
  files.delegation_table.note_size(answer->handle, initial.size);
  const bitmap4 attrset = answer->granted.attrset;
  const NameChange directory = answer->granted.directory;
  const bool made = mode != CreateMode::unchecked || !unchanged(directory);
  const Asked asked{caller, use, made, delegating, made ? 0 : request.rights, /*creating=*/true};
  auto opened = co_await complete(files, asked, std::move(*answer));
  CO_TRY(opened);
  opened->directory = directory;
  if (mode != CreateMode::exclusive) co_return opened;
  const SetAttributes rest = still_to_set(file, initial, attrset);
  if (rest.empty()) co_return opened;
  auto changed = co_await setattr(files, caller, opened->handle, opened->open.state(), rest);
  CO_TRY(changed);
  opened->attributes = changed->attributes;
  co_return opened;
}

}  // namespace nfsrdma::client
