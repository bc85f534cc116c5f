#include "client/state/open_file.h"

#include "client/proto/ops_open.h"

namespace nfsrdma::client {
namespace {

bool newer(std::uint32_t seqid, std::uint32_t than) {
  return static_cast<std::int32_t>(seqid - than) > 0;
}

}  // namespace

std::uint32_t OpenFile::share_access() const {
  std::uint32_t needed = 0;
  for (std::uint32_t access = 1; access < counts_.size(); ++access) {
    if (counts_[access] > 0) needed |= access;
  }
  return needed;
}

std::uint32_t OpenFile::unclaimed() const {
  for (const std::uint32_t access : {3U, 2U, 1U}) {
    if (counts_[access] > 0 && (opened_with_ & 1U << access) == 0) return access;
  }
  return 0;
}

bool OpenFile::claimed() const {
  return unclaimed() == 0 && (share_access() & ~server_access_) == 0;
}

void OpenFile::on_refused(nfs4::nfsstat4 status) {
  if (uses_delegation()) {
    delegation_->on_refused(status);
  } else {
    server_open_.on_refused(status);
  }
}

void OpenFile::ServerOpen::on_refused(nfs4::nfsstat4 status) {
  if (file_.lost_ || file_.claim_ != Claim::none) return;
  const bool revoked =
      status == nfs4::NFS4ERR_ADMIN_REVOKED || status == nfs4::NFS4ERR_DELEG_REVOKED;
  file_.claim_ = revoked ? Claim::freed : Claim::anew;
}

void OpenFile::opened(const nfs4::stateid4& stateid, std::uint32_t share_access) {
  if (newest_.other != stateid.other) {
    newest_ = stateid;
    server_access_ = share_access;
    opened_with_ = 1U << share_access;
    return;
  }
  if (newer(stateid.seqid, newest_.seqid)) newest_ = stateid;
  server_access_ |= share_access;
  opened_with_ |= 1U << share_access;
}

void OpenFile::downgraded(const nfs4::stateid4& stateid, std::uint32_t needed) {
  if (newest_.other == stateid.other && newer(stateid.seqid, newest_.seqid)) newest_ = stateid;
  // References that were merged meanwhile have their accesses.
  server_access_ = needed | share_access();
  for (std::uint32_t access = 1; access <= nfs4::OPEN4_SHARE_ACCESS_BOTH; ++access) {
    if ((access & ~server_access_) != 0) opened_with_ &= ~(1U << access);
  }
}

void OpenFile::closed() {
  newest_ = {};
  server_access_ = 0;
  opened_with_ = 0;
  const bool in_use = references() > 0 && !uses_delegation();
  if (in_use && !lost_ && claim_ == Claim::none) claim_ = Claim::anew;
}

}  // namespace nfsrdma::client
