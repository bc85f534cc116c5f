#include "client/requests/rename.h"

#include "client/requests/done_before.h"
#include "client/requests/lookup.h"
#include "client/requests/steps.h"
#include "client/session/request_context.h"

namespace nfsrdma::client {
namespace {

Result<Renamed> read_renamed(CompoundReader& results) {
  nfs4::RENAME4res renamed;
  TRY((steps::pass<nfs4::PUTFH4res, nfs4::SAVEFH4res, nfs4::PUTFH4res>(results)));
  TRY(results.read(renamed));
  TRY(results.finish());
  return Renamed{renamed.resok4.source_cinfo, renamed.resok4.target_cinfo};
}

}  // namespace

Task<Result<Renamed>> rename(RequestContext& context, Credential caller, FileHandle from_dir,
                             std::string_view from, FileHandle to_dir, std::string_view to,
                             WithoutCaller without_caller) {
  const steps::Name old_name(from);
  const steps::Name new_name(to);
  CompoundRef compound = co_await context.session.compound(caller);
  if (!compound) co_return fail(steps::ending());
  steps::add_handle(*compound, from_dir);
  compound->add(nfs4::SAVEFH4args{});
  steps::add_handle(*compound, to_dir);
  compound->set_ends_with_caller(without_caller);
  compound->add(nfs4::RENAME4args{old_name.view(), new_name.view()});
  auto answered = co_await context.session.execute(*compound);
  CO_TRY(answered);
  auto renamed = read_renamed(compound->results());
  if (renamed || !may_be_done(*compound, renamed.error(), nfs4::NFS4ERR_NOENT)) co_return renamed;
  compound.reset();
  auto found = co_await lookup(context, caller, to_dir, new_name.view());
  if (found) co_return Renamed();
  co_return renamed;
}

}  // namespace nfsrdma::client
