#include "client/requests/free_stateid.h"

#include "client/proto/ops_lock.h"
#include "client/session/request_context.h"

namespace nfsrdma::client {

Task<Result<void>> free_stateid(RequestContext& context, Credential caller, nfs4::stateid4 stateid,
                                Sending sending) {
  CompoundRef compound = co_await begin(context, caller, sending);
  if (!compound) co_return fail(no_request(sending));
  compound->add(nfs4::FREE_STATEID4args{stateid});
  auto answered = co_await execute(context, *compound, sending);
  co_return answered;
}

}  // namespace nfsrdma::client
