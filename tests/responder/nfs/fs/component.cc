#include "tests/responder/nfs/fs/component.h"

#include <algorithm>

namespace nfsrdma::responder {

namespace {

nfs4::nfsstat4 check(std::string_view name) {
  if (name.empty()) return nfs4::NFS4ERR_INVAL;
  if (name.size() > kMaxName) return nfs4::NFS4ERR_NAMETOOLONG;
  if (name == "." || name == "..") return nfs4::NFS4ERR_BADNAME;
  constexpr std::string_view kForbidden("/\0", 2);
  if (name.find_first_of(kForbidden) != std::string_view::npos) return nfs4::NFS4ERR_BADNAME;
  return nfs4::NFS4_OK;
}

}  // namespace

Component::Component(std::string_view name) : status_(check(name)) {
  if (status_ == nfs4::NFS4_OK) {
    length_ = name.size();
    std::copy(name.begin(), name.end(), text_.begin());
  }
  text_[length_] = '\0';
}

}  // namespace nfsrdma::responder
