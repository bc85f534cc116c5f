#include "transport/fabric/verbs/fault.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstring>

namespace nfsrdma::fabric::verbs {
namespace {

/// InfiniBand's reasons for a REJ message (IBA volume 1, table 111) that matter here.
constexpr int kRejectInvalidServiceId = 8;

Fault fault_of(const ibv_wc& completion) {
  switch (completion.status) {
    case IBV_WC_LOC_LEN_ERR: return Fault::receive_too_small;
    case IBV_WC_REM_INV_REQ_ERR:
    case IBV_WC_REM_ACCESS_ERR:
    case IBV_WC_REM_OP_ERR: return Fault::remote_terminate;
    case IBV_WC_LOC_ACCESS_ERR:
    case IBV_WC_LOC_PROT_ERR:
    case IBV_WC_LOC_QP_OP_ERR:
    case IBV_WC_MW_BIND_ERR: return Fault::resources;
    default: return Fault::reset;
  }
}

/// `status` is a negative errno, or the reason of a REJ message.
std::string status_text(int status) {
  if (status == 0) return {};
  return status < 0 ? std::strerror(-status) : fmt::format("status {}", status);
}

Fault reject_fault(int status) {
  return status == kRejectInvalidServiceId ? Fault::refused : Fault::rejected;
}

Fault unreachable_fault(int status) {
  return status == -ECONNREFUSED ? Fault::refused : Fault::timed_out;
}

}  // namespace

Error connection_error(Fault fault, std::string detail) {
  return Error{Layer::fabric, static_cast<int>(fault), "verbs", std::move(detail)};
}

Error completion_error(const ibv_wc& completion) {
  return connection_error(
      fault_of(completion),
      fmt::format("work completion: {}, vendor error {:#x}", ::ibv_wc_status_str(completion.status),
                  completion.vendor_err));
}

Error event_error(const ConnectionEvent& event) {
  const std::string text = status_text(event.status);
  switch (event.type) {
    case RDMA_CM_EVENT_ADDR_ERROR:
      return connection_error(Fault::timed_out, "the address does not resolve: " + text);
    case RDMA_CM_EVENT_ROUTE_ERROR: return connection_error(Fault::timed_out, "no route: " + text);
    case RDMA_CM_EVENT_REJECTED: return connection_error(reject_fault(event.status), "");
    case RDMA_CM_EVENT_UNREACHABLE:
    case RDMA_CM_EVENT_CONNECT_ERROR:
      return connection_error(unreachable_fault(event.status), text);
    case RDMA_CM_EVENT_DISCONNECTED: return connection_error(Fault::closed, "");
    case RDMA_CM_EVENT_DEVICE_REMOVAL:
      return connection_error(Fault::reset, "the RDMA device was removed");
    default: return connection_error(Fault::reset, ::rdma_event_str(event.type));
  }
}

Error call_error(int error_number, const char* step, std::string detail) {
  return Error::from_errno(error_number, step, std::move(detail));
}

}  // namespace nfsrdma::fabric::verbs
