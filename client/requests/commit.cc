#include "client/requests/commit.h"

#include "client/compound/result_sizes.h"
#include "client/proto/ops_data.h"
#include "client/requests/steps.h"
#include "client/session/request_context.h"

namespace nfsrdma::client {
Task<Result<nfs4::verifier4>> commit(RequestContext& context, Credential caller, FileHandle file,
                                     std::uint64_t offset, std::uint32_t count) {
  CompoundRef compound = co_await context.session.compound(caller);
  if (!compound) co_return fail(steps::ending());
  steps::add_handle(*compound, file);
  compound->add(nfs4::COMMIT4args{offset, count}, result_size::kVerifier);
  auto answered = co_await context.session.execute(*compound);
  CO_TRY(answered);
  auto result = steps::read_only<nfs4::COMMIT4res>(compound->results());
  CO_TRY(result);
  co_return result->resok4.writeverf;
}

}  // namespace nfsrdma::client
