#include "client/session/exchange.h"

namespace nfsrdma::client {

Task<Result<void>> exchange(rpc::Channel& channel, Compound& compound, std::uint32_t xid,
                            TimePoint now) {
  auto sealed = compound.seal();
  CO_TRY(sealed);
  compound.set_xid(xid);
  compound.note_submission(now);
  co_await rpc::submit(channel, compound.call());
  Result<rpc::Reply>& reply = *compound.call().reply;
  CO_TRY(reply);
  auto opened = compound.open_reply();
  co_return opened;
}

}  // namespace nfsrdma::client
