// Faults of single operations, scripted at run time.
#pragma once

#include <cstdint>
#include <vector>

#include "client/proto/opnum.h"
#include "client/proto/status.h"
#include "transport/base/reactor.h"

namespace nfsrdma::responder {

/// "From the (skip+1)th of these operations on, `times` times: answer `status` without executing
/// it (NFS4_OK: execute it), and hold the reply back for `delay`."
struct OperationFault {
  nfs4::nfs_opnum4 opnum = nfs4::OP_ILLEGAL;
  std::uint64_t skip = 0;
  std::uint64_t times = 1;
  nfs4::nfsstat4 status = nfs4::NFS4_OK;
  Duration delay{};
};

class FaultHooks {
 public:
  struct Verdict {
    nfs4::nfsstat4 status = nfs4::NFS4_OK;
    Duration delay{};
  };

  /// WRITE answers UNSTABLE4 whatever was asked for, which RFC 8881 section 18.32.3 forbids.
  bool never_stable = false;
  std::size_t most_written = ~std::size_t{0};
  std::size_t most_read = ~std::size_t{0};
  bool keeps_unlinked = false;

  void add(const OperationFault& fault) { faults_.push_back(fault); }
  void clear() { faults_.clear(); }
  /// What is to happen to an operation; counts it. With several faults the first status and the
  /// sum of the delays hold.
  Verdict next(nfs4::nfs_opnum4 opnum);
  /// Operations that a fault was applied to so far.
  std::uint64_t applied() const { return applied_; }

 private:
  std::vector<OperationFault> faults_;
  std::uint64_t applied_ = 0;
};

}  // namespace nfsrdma::responder
