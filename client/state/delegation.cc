#include "client/state/delegation.h"

#include <algorithm>

#include "client/state/open_file.h"
#include "client/state/same_user.h"

namespace nfsrdma::client {

Delegation::Delegation(const FileHandle& handle, const Credential& caller,
                       const GrantedDelegation& granted)
    : handle_(handle), caller_(caller), stateid_(granted.stateid), writes_(granted.writes) {}

Delegation::~Delegation() = default;

void Delegation::on_refused(nfs4::nfsstat4 status) {
  if (phase_ == Phase::gone || trouble_ != Trouble::none) return;
  const bool revoked = status == nfs4::NFS4ERR_ADMIN_REVOKED ||
                       status == nfs4::NFS4ERR_DELEG_REVOKED || status == nfs4::NFS4ERR_EXPIRED;
  trouble_ = revoked ? Trouble::revoked : Trouble::refused;
}

void Delegation::reclaimed(const GrantedDelegation& granted) {
  stateid_ = granted.stateid;
  writes_ = granted.writes;
  trouble_ = Trouble::none;
}

void Delegation::resized(std::uint64_t size) {
  ++resizes_;
  size_ = size;
  written_end_ = std::min(written_end_, size);
}

// The reply may have overtaken that of a change of the size, which came behind it.
void Delegation::wrote_to(std::uint64_t end, std::uint32_t resizes) {
  if (writes_ && held() && resizes == resizes_) written_end_ = std::max(written_end_, end);
}

void Delegation::add(OpenFile& file) const { files_.push_back(file); }

bool Delegation::allows(const Credential& caller, std::uint32_t access) const {
  return std::ranges::any_of(authorized_, [&](const Authorized& authorized) {
    return (access & ~authorized.access) == 0 && same_user(authorized.caller, caller);
  });
}

void Delegation::authorize(const Credential& caller, std::uint32_t access) {
  for (Authorized& authorized : authorized_) {
    if (!same_user(authorized.caller, caller)) continue;
    authorized.access |= access;
    return;
  }
  if (authorized_.size() < kMostAuthorized) authorized_.push_back({caller, access});
}

bool Delegation::in_use() const {
  bool used = false;
  files_.for_each([&](const OpenFile& file) { used = used || file.share_access() != 0; });
  return used;
}

}  // namespace nfsrdma::client
