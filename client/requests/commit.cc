#include "client/requests/commit.h"

#include <utility>

#include "client/proto/ops_data.h"
#include "client/requests/steps.h"
#include "client/session/request_context.h"

namespace nfsrdma::client {

Task<Result<nfs4::verifier4>> commit(RequestContext& context, Credential caller, FileHandle file,
                                     std::uint64_t offset, std::uint32_t count) {
  CompoundRef compound = co_await context.session.compound(caller);
  if (!compound) co_return fail(steps::ending());
  steps::add_handle(*compound, file);
  compound->add(nfs4::COMMIT4args{offset, count});
  auto answered = co_await context.session.execute(*compound);
  CO_TRY(answered);
  auto result = steps::read_only<nfs4::COMMIT4res>(compound->results());
  CO_TRY(result);
  co_return result->resok4.writeverf;
}

Task<Result<Committed>> commit_and_look(RequestContext& context, Credential caller, FileHandle file,
                                        std::uint64_t offset, std::uint32_t count) {
  CompoundRef compound = co_await context.session.compound(caller);
  if (!compound) co_return fail(steps::ending());
  steps::add_handle(*compound, file);
  compound->add(nfs4::COMMIT4args{offset, count});
  steps::add_attributes(*compound);
  auto answered = co_await context.session.execute(*compound);
  CO_TRY(answered);
  CompoundReader& results = compound->results();
  nfs4::COMMIT4res result;
  auto passed = steps::pass<nfs4::PUTFH4res>(results);
  if (passed) passed = results.read(result);
  CO_TRY(passed);
  Committed committed{result.resok4.writeverf, std::nullopt};
  // COMMIT has succeeded even if the GETATTR after it fails.
  OwnerNames names;
  auto attributes = steps::read_last_attributes(context, results, names);
  compound.reset();
  if (attributes && names.pending()) co_await names.resolve(*attributes);
  if (attributes) committed.attributes = std::move(*attributes);
  co_return committed;
}

}  // namespace nfsrdma::client
