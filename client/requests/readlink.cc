#include "client/requests/readlink.h"

#include "client/compound/result_sizes.h"
#include "client/proto/ops_data.h"
#include "client/requests/steps.h"
#include "client/session/request_context.h"

namespace nfsrdma::client {
// No Write chunk, though the text may go in one (RFC 8267 section 6.1): knfsd of Linux 6.1 puts the
// length there, too, and so loses bytes of the text.
Task<Result<std::string>> readlink(RequestContext& context, Credential caller, FileHandle file) {
  CompoundRef compound = co_await context.session.compound(caller);
  if (!compound) co_return fail(steps::ending());
  steps::add_handle(*compound, file);
  compound->add(nfs4::READLINK4args{}, result_size::kReadLink);
  auto answered = co_await context.session.execute(*compound);
  CO_TRY(answered);
  auto result = steps::read_only<nfs4::READLINK4res>(compound->results());
  CO_TRY(result);
  const auto text = result->resok4.link.data;
  co_return std::string(reinterpret_cast<const char*>(text.data()), text.size());
}

}  // namespace nfsrdma::client
