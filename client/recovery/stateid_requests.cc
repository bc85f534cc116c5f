#include "client/recovery/stateid_requests.h"

#include <utility>

#include "client/requests/free_stateid.h"
#include "client/requests/test_stateid.h"
#include "client/session/request_context.h"

namespace nfsrdma::client {

Sending StateidRequests::sending() const {
  Sending sending;
  sending.reserved = true;
  sending.patience = context_.lease_time();
  return sending;
}

Task<Result<std::vector<nfs4::nfsstat4>>> StateidRequests::test_batch(
    std::vector<nfs4::stateid4> stateids) {
  auto codes = co_await test_stateid(context_, caller_, std::move(stateids), sending());
  if (codes) tested_.add(codes->size());
  co_return codes;
}

Task<void> StateidRequests::free(Credential caller, nfs4::stateid4 stateid) {
  auto answered = co_await free_stateid(context_, caller, stateid, sending());
  if (answered) freed_.add();
}

}  // namespace nfsrdma::client
