// What the server asks about delegations.
#pragma once

#include <optional>

#include "client/proto/object.h"
#include "client/proto/ops_callback.h"

namespace nfsrdma::client {

/// DelegationTable answers. Each call returns at once; what follows from it is done later.
class DelegationCallbacks {
 public:
  /// CB_RECALL, CB_RECALL_ANY (RFC 8881 sections 20.2, 20.6).
  virtual nfs4::nfsstat4 recall(const nfs4::CB_RECALL4args& args) = 0;
  virtual nfs4::nfsstat4 recall_any(const nfs4::CB_RECALL_ANY4args& args) = 0;
  /// Size and change attribute of a file held for writing (CB_GETATTR, section 20.1).
  virtual std::optional<Attributes> attributes_of(const FileHandle& handle) const = 0;

 protected:
  ~DelegationCallbacks() = default;
};

}  // namespace nfsrdma::client
