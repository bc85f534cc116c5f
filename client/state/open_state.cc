#include "client/state/open_state.h"

#include <utility>

#include "client/proto/ops_open.h"
#include "client/state/open_table.h"

namespace nfsrdma::client {

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

OpenRef::OpenRef(OpenRef&& other) noexcept
    : table_(std::exchange(other.table_, nullptr)),
      file_(std::move(other.file_)),
      share_access_(std::exchange(other.share_access_, 0)) {}

OpenRef& OpenRef::operator=(OpenRef&& other) noexcept {
  if (this == &other) return *this;
  reset();
  table_ = std::exchange(other.table_, nullptr);
  file_ = std::move(other.file_);
  share_access_ = std::exchange(other.share_access_, 0);
  return *this;
}

void OpenRef::reset() {
  if (!file_) return;
  OpenTable* table = table_;
  table->release_in_background(std::move(*this));
}

}  // namespace nfsrdma::client
