#include "client/recovery/stateid_requests.h"

#include <cerrno>
#include <utility>

#include "client/compound/result_sizes.h"
#include "client/mount.h"
#include "client/proto/ops_lock.h"
#include "client/session/session.h"

namespace nfsrdma::client {

using namespace nfs4;

Task<Result<std::vector<nfsstat4>>> StateidRequests::test(std::vector<stateid4> stateids) {
  CompoundRef compound = compounds_.begin_reserved(mount_.config().caller);
  if (!compound) co_return fail(Error::local(ENOMEM, "TEST_STATEID", "no message slot is free"));
  const std::size_t count = stateids.size();
  TEST_STATEID4args args;
  args.ts_stateids = std::move(stateids);
  compound->add(args, result_size::kWord * (1 + count));
  auto answered = co_await mount_.session().execute(*compound, mount_.lease_time());
  CO_TRY(answered);
  TEST_STATEID4res result;
  auto read = compound->results().read(result);
  CO_TRY(read);
  tested_.add(count);
  std::vector<nfsstat4> codes = std::move(result.tsr_resok4.tsr_status_codes);
  codes.resize(std::min(codes.size(), count));
  co_return codes;
}

Task<void> StateidRequests::free(Credential caller, stateid4 stateid) {
  CompoundRef compound = compounds_.begin_reserved(caller);
  if (!compound) co_return;
  compound->add_modifying(FREE_STATEID4args{stateid}, result_size::kNothing);
  auto answered = co_await mount_.session().execute(*compound, mount_.lease_time());
  if (answered) freed_.add();
}

}  // namespace nfsrdma::client
