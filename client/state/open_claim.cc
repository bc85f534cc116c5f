// The part of OpenTable that has to do with delegations.
#include <utility>

#include "client/mount.h"
#include "client/requests/open.h"
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
    // Without a delegation any more the open is got back by its recovery.
    if (!claimed && file->delegation_ && (!changed || ++claims == kMaxClaims)) co_return claimed;
  }
  co_return Result<void>{};
}

Task<Result<void>> OpenTable::claim(FileRef file, std::uint32_t share_access) {
  OpenRequest request;
  request.object = file->handle_;
  request.share_access = share_access;
  request.claim = nfs4::CLAIM_DELEG_CUR_FH;
  request.delegation = file->delegation_->stateid();
  Sending sending;
  sending.patience = mount_.lease_time();
  auto opened = co_await send_claim(mount_, file->caller_, request, sending);
  CO_TRY(opened);
  claims_.add();
  take(*file, opened->stateid, share_access);
  co_return Result<void>{};
}

}  // namespace nfsrdma::client
