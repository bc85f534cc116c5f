// The part of OpenTable that has to do with delegations.
#include <utility>

#include "client/compound/result_sizes.h"
#include "client/mount.h"
#include "client/proto/ops_namespace.h"
#include "client/proto/ops_open.h"
#include "client/requests/steps.h"
#include "client/session/session.h"
#include "client/state/delegation_table.h"
#include "client/state/open_table.h"

namespace nfsrdma::client {
namespace {

/// Times that the delegation may get another stateid while an open is claimed under it.
constexpr int kMaxClaims = 10;

}  // namespace

OpenRef OpenTable::open_locally(const Credential& caller, const FileHandle& handle,
                                std::uint32_t share_access) {
  const std::uint32_t access = share_access & nfs4::OPEN4_SHARE_ACCESS_BOTH;
  const DelegationRef delegation = mount_.delegations().held(handle);
  if (closed_ || !delegation || !delegation->covers(access)) return {};
  if (!mount_.session().lease_holds()) return {};  // the server is asked
  if (!delegation->allows(caller, access)) return {};
  const FileRef known = find(caller.uid, handle);
  if (known && (known->lost_ || known->recovering())) return {};
  const FileRef file = obtain(caller, handle);
  // What is in use beyond the delegation has to stay with the open that the server knows.
  const bool together = delegation->covers(file->share_access() | access);
  if (!together && (access & ~file->server_access_) != 0) return {};
  attach(*file, delegation);
  file->set_fileid(delegation->fileid_);
  ++file->counts_[access];
  mount_.delegations().touch(*delegation);
  mount_.delegations().count_local_open();
  return OpenRef(*this, file, access);
}

void OpenTable::attach(OpenFile& file, const DelegationRef& delegation) {
  if (file.delegation_ == delegation) return;
  file.unlink();
  file.delegation_ = delegation;
  delegation->files_.push_back(file);
}

std::vector<OpenFileRef> OpenTable::detach(Delegation& delegation) {
  std::vector<OpenFileRef> files;
  delegation.files_.for_each([&](OpenFile& file) {
    files.push_back(file.shared_from_this());
    file.unlink();
    file.delegation_.reset();
  });
  bool anew = false;
  for (const OpenFileRef& file : files) {
    const bool all_known = file->claimed() && !file->locks().any_local();
    const bool unknown = !all_known && !file->lost_ && !file->recovering();
    if (unknown) file->claim_ = OpenFile::Claim::anew;
    anew = anew || unknown;
    forget_if_unused(file);
  }
  if (anew) mount_.session().state_refused();
  return files;
}

Task<Result<void>> OpenTable::claim(OpenFileRef file) {
  auto guard = co_await file->changing_.lock();
  for (int claims = 0; !file->lost_ && file->delegation_ && !file->claimed();) {
    if (file->recovering()) {
      const bool slept = co_await mount_.session().pauses().pause(Backoff::kFirst);
      if (!slept) co_return fail(steps::ending());
      continue;
    }
    const nfs4::stateid4 used = file->delegation_->stateid();
    auto claimed = co_await claim(file, file->unclaimed());
    const bool changed = file->delegation_ && file->delegation_->stateid() != used;
    if (!claimed && (!changed || ++claims == kMaxClaims)) co_return claimed;
  }
  co_return Result<void>{};
}

Task<Result<void>> OpenTable::claim(FileRef file, std::uint32_t share_access) {
  Session& session = mount_.session();
  CompoundRef compound = co_await session.compound(file->caller_);
  if (!compound) co_return fail(steps::ending());
  if (!file->delegation_) co_return Result<void>{};
  steps::add_handle(*compound, file->handle_);
  {
    const OpenOwner owner(file->caller_.uid);
    nfs4::OPEN4args args;
    args.share_access = share_access | nfs4::OPEN4_SHARE_ACCESS_WANT_NO_DELEG;
    args.owner.clientid = mount_.clientid();
    args.owner.owner = owner.bytes();
    args.claim.claim = nfs4::CLAIM_DELEG_CUR_FH;
    args.claim.oc_delegate_stateid = file->delegation_->stateid();
    compound->add_modifying(args, result_size::kOpen);
  }
  auto answered = co_await session.execute(*compound, mount_.lease_time());
  CO_TRY(answered);
  auto passed = steps::pass<nfs4::PUTFH4res>(compound->results());
  CO_TRY(passed);
  nfs4::OPEN4res result;
  auto read = compound->results().read(result);
  CO_TRY(read);
  claims_.add();
  take(*file, result.resok4.stateid, share_access);
  co_return Result<void>{};
}

}  // namespace nfsrdma::client
