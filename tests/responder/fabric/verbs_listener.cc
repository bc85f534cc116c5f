#include "tests/responder/fabric/verbs_listener.h"

#include <netinet/in.h>

#include <cerrno>

#include "tests/responder/fabric/verbs_request.h"
#include "transport/base/log.h"
#include "transport/base/port.h"
#include "transport/fabric/verbs/address.h"
#include "transport/fabric/verbs/fault.h"

namespace nfsrdma::fabric::verbs {
namespace {

constexpr int kBacklog = 128;

}  // namespace

Result<void> VerbsListener::start(const Address& local) {
  auto events = context_->events();
  if (!events) return fail_from(events);
  auto id = (*events)->make_id(*this);
  if (!id) return fail_from(id);
  id_ = std::move(*id);
  int yes = 1;
  // If this fails, a restarted server has to wait until old connections are forgotten.
  (void)::rdma_set_option(id_.get(), RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &yes, sizeof yes);
  Address bound = local;
  if (::rdma_bind_addr(id_.get(), socket_address(bound)) != 0) {
    return fail(call_error(errno, "rdma_bind_addr", local.text()));
  }
  // Registers memory now: it takes long and would delay the first connection. On the wildcard
  // address the device is not known yet.
  if (id_->verbs != nullptr) {
    auto device = context_->device_of(*id_);
    if (!device) return fail_from(device);
  }
  if (::rdma_listen(id_.get(), kBacklog) != 0) {
    return fail(call_error(errno, "rdma_listen", local.text()));
  }
  return {};
}

Address VerbsListener::address() const {
  Address address = address_of(*::rdma_get_local_addr(id_.get()));
  set_port(address.storage, ntohs(::rdma_get_src_port(id_.get())));
  return address;
}

void VerbsListener::on_event(const ConnectionEvent& event) {
  if (event.type == RDMA_CM_EVENT_CONNECT_REQUEST) {
    handler_.on_connect_request(std::make_unique<VerbsConnectRequest>(context_, event));
  } else if (event.type == RDMA_CM_EVENT_DEVICE_REMOVAL) {
    log::warning("verbs: the RDMA device of {} was removed", address().text());
  }
}

}  // namespace nfsrdma::fabric::verbs
