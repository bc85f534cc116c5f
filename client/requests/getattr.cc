#include "client/requests/getattr.h"

#include "client/proto/ops_attr.h"
#include "client/requests/steps.h"
#include "client/session/request_context.h"

namespace nfsrdma::client {

Task<Result<Attributes>> getattr(RequestContext& context, Credential caller, FileHandle file) {
  CompoundRef compound = co_await context.session.compound(caller);
  if (!compound) co_return fail(steps::ending());
  steps::add_handle(*compound, file);
  steps::add_attributes(*compound);
  auto answered = co_await context.session.execute(*compound);
  CO_TRY(answered);
  CompoundReader& results = compound->results();
  auto passed = steps::pass<nfs4::PUTFH4res>(results);
  CO_TRY(passed);
  OwnerNames names;
  auto attributes = steps::read_last_attributes(context, results, names);
  compound.reset();
  if (attributes && names.pending()) co_await names.resolve(*attributes);
  co_return attributes;
}

Task<Result<Attributes>> get_facts(RequestContext& context, Credential caller, FileHandle file,
                                   nfs4::bitmap4 wanted) {
  CompoundRef compound = co_await context.session.compound(caller);
  if (!compound) co_return fail(steps::ending());
  steps::add_handle(*compound, file);
  compound->add(nfs4::GETATTR4args{wanted});
  auto answered = co_await context.session.execute(*compound);
  CO_TRY(answered);
  auto result = steps::read_only<nfs4::GETATTR4res>(compound->results());
  CO_TRY(result);
  co_return nfs4::decode_attributes(result->resok4.obj_attributes);
}

Task<Result<Attributes>> statfs(RequestContext& context, Credential caller, FileHandle file) {
  using namespace nfs4;
  static const bitmap4 kWanted{FATTR4_FILES_AVAIL, FATTR4_FILES_FREE,  FATTR4_FILES_TOTAL,
                               FATTR4_MAXNAME,     FATTR4_SPACE_AVAIL, FATTR4_SPACE_FREE,
                               FATTR4_SPACE_TOTAL};
  return get_facts(context, caller, file, kWanted);
}

}  // namespace nfsrdma::client
