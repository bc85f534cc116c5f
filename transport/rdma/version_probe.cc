#include "transport/rdma/version_probe.h"

#include "transport/base/log.h"
#include "transport/rdma/fault.h"
#include "transport/rpc/message.h"

namespace nfsrdma::rdma {

VersionProbe::VersionProbe(Reactor& reactor, const Options& options, Pools& pools,
                           ServerVersion& server, Done done)
    : options_(options),
      pools_(pools),
      server_(server),
      done_(std::move(done)),
      patience_(reactor, [this] { on_silence(); }) {}

std::uint32_t VersionProbe::first_version() const {
  if (options_.version == VersionChoice::one) return kVersionOne;
  if (options_.version == VersionChoice::two) return kVersionTwo;
  return server_.known.value_or(kVersionTwo);
}

Result<void> VersionProbe::start(Requester& requester) {
  Buffer memory = pools_.send_memory->acquire();
  if (!memory) {
    return fail(transport_error(Fault::registration, "ask for the version", "no memory left"));
  }
  call_.emplace(std::move(memory));
  call_->reset(kXid);
  rpc::Credential nobody;
  nobody.flavor = rpc::AuthFlavor::none;
  constexpr std::uint32_t kNullProcedure = 0;
  rpc::encode_call_header(call_->encoder, kXid, rpc::kNfsProgram, rpc::kNfsVersion4, kNullProcedure,
                          nobody, {});
  call_->max_reply = rpc::kAcceptedReplyHeader;
  call_->urgency = rpc::Urgency::reserved;
  call_->observer = this;
  running_ = true;
  patience_.arm(options_.version_patience);
  requester.submit(*call_);
  return {};
}

void VersionProbe::on_error(const Header& header) { refusal_ = header.error; }

void VersionProbe::on_call_done(rpc::Call& call) {
  const ProbeOutcome outcome = running_ ? judge(call) : ProbeOutcome{};
  call.reply.reset();  // its message is wanted for others
  // The loss of the connection is judged by on_down, which knows its reason.
  if (outcome.version == 0 && !outcome.error) return;
  finish(outcome);
}

void VersionProbe::finish(const ProbeOutcome& outcome) {
  running_ = false;
  patience_.cancel();
  if (outcome.version != 0) server_.known = outcome.version;
  done_(outcome);
}

/// The server has not said that it lacks version 2, but does not take its first message. Only a new
/// finding leads to an attempt at once, so that there is no loop (V2-5.2-3, V2-5.2-4).
void VersionProbe::assume_version_one() {
  if (options_.version != VersionChoice::automatic || server_.known) return;
  log::info("no version 2 of RPC-over-RDMA there; going on with version 1");
  server_.known = kVersionOne;
  server_.try_again = true;
}

ProbeOutcome VersionProbe::judge(const rpc::Call& call) {
  if (refusal_) return judge_range(*refusal_);
  // Any answer of the RPC layer to the NULL call is an answer in version 2.
  if (*call.reply || call.reply->error().layer == Layer::rpc) return {kVersionTwo, {}};
  if (call.reply->error().layer == Layer::fabric) return {};
  return {0, call.reply->error()};
}

ProbeOutcome VersionProbe::judge_range(const RdmaError& error) {
  if (error.err != ERR_VERS) {
    assume_version_one();
    return {0, version_error("it answers the first message with RDMA_ERROR " +
                             std::to_string(error.err))};
  }
  const VersionRange range{error.rdma_vers_low, error.rdma_vers_high};
  const std::string text =
      "it speaks versions " + std::to_string(range.low) + " to " + std::to_string(range.high);
  if (options_.version == VersionChoice::automatic && range.has(kVersionOne)) {
    return {kVersionOne, {}};
  }
  return {0, version_error(text)};
}

Error VersionProbe::version_error(const std::string& why) const {
  return transport_error(Fault::err_vers, "RPC-over-RDMA version 2",
                         options_.version == VersionChoice::two
                             ? why + "; mount with rpcrdma=1 or rpcrdma=auto"
                             : why);
}

void VersionProbe::on_silence() {
  assume_version_one();
  finish({0, version_error("no answer to the first message within " +
                           std::to_string(std::chrono::duration_cast<std::chrono::seconds>(
                                              options_.version_patience)
                                              .count()) +
                           " s")});
}

void VersionProbe::on_down(Error& reason) {
  if (running_) {
    running_ = false;
    patience_.cancel();
    assume_version_one();
    reason =
        version_error("the connection is lost at the first message (" + reason.message() + ")");
  }
}

}  // namespace nfsrdma::rdma
