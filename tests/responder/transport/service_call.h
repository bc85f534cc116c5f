// The part of a call that the service uses, for every transport.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "tests/responder/service.h"
#include "tests/responder/transport/core.h"
#include "tests/responder/transport/fault_script.h"
#include "transport/base/intrusive_list.h"

namespace nfsrdma::responder {

/// The transports' calls derive from it: they add how a call arrives and how its reply leaves.
class ServiceCall : public ServerCall, public HeldCall, public ListNode {
 public:
  const rpc::CallHeader& header() const override { return rpc_header_; }
  xdr::Decoder& arguments() override { return arguments_; }
  xdr::Encoder& results() override { return results_; }
  std::span<std::byte> scratch(std::size_t size) override;
  std::optional<std::uint32_t> forced_status(std::uint32_t operation) const override;
  ServiceFaults service_faults() const override { return faults_.service; }

 protected:
  ServiceCall(Core& core, Buffer reply_memory)
      : core_(core), reply_memory_(std::move(reply_memory)) {}
  ~ServiceCall() = default;

  void return_scratch();
  /// The RPC header of a call has been decoded: counts its operations, and asks the script, and for
  /// how long others may overtake it.
  void decide_faults();
  /// Changes the results behind the RPC header as the script wants it.
  void spoil_results(std::size_t header_bytes);

  Core& core_;
  rpc::CallHeader rpc_header_;
  xdr::Decoder arguments_;
  Buffer reply_memory_;
  xdr::Encoder results_;
  CallFaults faults_;
  OperationList operations_;  ///< of the COMPOUND

 private:
  std::array<Buffer, xdr::Encoder::kMaxOmitted> scratch_;
};

}  // namespace nfsrdma::responder
