#include "tests/responder/nfs/fault_hooks.h"

namespace nfsrdma::responder {

FaultHooks::Verdict FaultHooks::next(nfs4::nfs_opnum4 opnum) {
  Verdict verdict;
  bool any = false;
  for (OperationFault& fault : faults_) {
    if (fault.opnum != opnum || fault.times == 0) continue;
    if (fault.skip > 0) {
      --fault.skip;
      continue;
    }
    --fault.times;
    any = true;
    if (verdict.status == nfs4::NFS4_OK) verdict.status = fault.status;
    verdict.delay += fault.delay;
  }
  if (any) ++applied_;
  std::erase_if(faults_, [](const OperationFault& fault) { return fault.times == 0; });
  return verdict;
}

}  // namespace nfsrdma::responder
