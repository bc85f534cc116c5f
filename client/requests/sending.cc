#include "client/requests/sending.h"

#include <cerrno>

#include "client/requests/steps.h"
#include "client/session/request_context.h"

namespace nfsrdma::client {

Task<CompoundRef> begin(RequestContext& context, Credential caller, Sending sending) {
  if (sending.reserved) co_return context.session.reserved_compound(caller);
  CompoundRef compound = co_await context.session.compound(caller);
  co_return compound;
}

Error no_request(const Sending& sending) {
  if (!sending.reserved) return steps::ending();
  return Error::local(ENOMEM, "COMPOUND", "no message slot is free");
}

Task<Result<void>> execute(RequestContext& context, Compound& compound, const Sending& sending) {
  if (sending.channel) return context.session.execute_on(*sending.channel, compound);
  return context.session.execute(compound, sending.patience);
}

}  // namespace nfsrdma::client
