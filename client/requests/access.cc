#include "client/requests/access.h"

#include "client/proto/ops_attr.h"
#include "client/requests/steps.h"
#include "client/session/request_context.h"

namespace nfsrdma::client {
Task<Result<std::uint32_t>> access(RequestContext& context, Credential caller, FileHandle file,
                                   std::uint32_t access4_bits) {
  CompoundRef compound = co_await context.session.compound(caller);
  if (!compound) co_return fail(steps::ending());
  steps::add_handle(*compound, file);
  compound->add(nfs4::ACCESS4args{access4_bits});
  auto answered = co_await context.session.execute(*compound);
  CO_TRY(answered);
  auto result = steps::read_only<nfs4::ACCESS4res>(compound->results());
  CO_TRY(result);
  co_return result->resok4.access & result->resok4.supported;
}

}  // namespace nfsrdma::client
