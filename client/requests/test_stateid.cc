#include "client/requests/test_stateid.h"

#include <algorithm>
#include <utility>

#include "client/proto/ops_lock.h"
#include "client/session/request_context.h"

namespace nfsrdma::client {

Task<Result<std::vector<nfs4::nfsstat4>>> test_stateid(RequestContext& context, Credential caller,
                                                       std::vector<nfs4::stateid4> stateids,
                                                       Sending sending) {
  CompoundRef compound = co_await begin(context, caller, sending);
  if (!compound) co_return fail(no_request(sending));
  const std::size_t count = stateids.size();
  nfs4::TEST_STATEID4args args;
  args.ts_stateids = std::move(stateids);
  compound->add(args);
  auto answered = co_await execute(context, *compound, sending);
  CO_TRY(answered);
  nfs4::TEST_STATEID4res result;
  auto read = compound->results().read(result);
  CO_TRY(read);
  std::vector<nfs4::nfsstat4> codes = std::move(result.tsr_resok4.tsr_status_codes);
  codes.resize(std::min(codes.size(), count));
  co_return codes;
}

}  // namespace nfsrdma::client
