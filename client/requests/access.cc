#include "client/requests/access.h"

#include "client/compound/result_sizes.h"
#include "client/proto/ops_attr.h"
#include "client/proto/ops_namespace.h"
#include "client/requests/steps.h"
#include "client/session/request_context.h"
#include "client/session/session.h"

namespace nfsrdma::client {
namespace {

Result<std::uint32_t> read_access(CompoundReader& results) {
  TRY(steps::pass<nfs4::PUTFH4res>(results));
  nfs4::ACCESS4res result;
  TRY(results.read(result));
  TRY(results.finish());
  return result.resok4.access & result.resok4.supported;
}

}  // namespace

Task<Result<std::uint32_t>> access(RequestContext& context, Credential caller, FileHandle file,
                                   std::uint32_t access4_bits) {
  CompoundRef compound = co_await context.session.compound(caller);
  if (!compound) co_return fail(steps::ending());
  steps::add_handle(*compound, file);
  compound->add(nfs4::ACCESS4args{access4_bits}, result_size::kAccess);
  auto answered = co_await context.session.execute(*compound);
  CO_TRY(answered);
  co_return read_access(compound->results());
}

}  // namespace nfsrdma::client
