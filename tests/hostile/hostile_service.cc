#include "tests/hostile/hostile_service.h"

#include <algorithm>

namespace nfsrdma::hostile {

using namespace nfs4;

namespace {

/// Memory of replies that have gone: clearing it anew for each takes longer than the attack.
std::vector<Bytes>& spare_memory() {
  static std::vector<Bytes> spare;
  return spare;
}

Bytes take_memory() {
  if (spare_memory().empty()) return Bytes(SpoiledReply::kMostBytes);
  Bytes memory = std::move(spare_memory().back());
  spare_memory().pop_back();
  return memory;
}

}  // namespace

/// One call on its way to the honest service and back. Deletes itself when it is answered.
class HostileCall final : public responder::ServerCall {
 public:
  HostileCall(HostileService& service, responder::ServerCall& call, bool spoils)
      : service_(service), call_(call) {
    if (!spoils) return;
    memory_ = take_memory();
    results_ = xdr::Encoder(memory_);
  }

  ~HostileCall() {
    if (!memory_.empty()) spare_memory().push_back(std::move(memory_));
  }

  const rpc::CallHeader& header() const override { return call_.header(); }
  xdr::Decoder& arguments() override { return call_.arguments(); }
  xdr::Encoder& results() override { return memory_.empty() ? call_.results() : results_; }
  std::span<std::byte> scratch(std::size_t size) override { return call_.scratch(size); }
  responder::Connection& connection() override { return call_.connection(); }
  std::optional<std::uint32_t> forced_status(std::uint32_t opnum) const override {
    const nfsstat4 status = service_.forced(opnum);
    return status == NFS4_OK ? std::nullopt : std::optional<std::uint32_t>(status);
  }
  void reply(rpc::AcceptStat status) override {
    if (!memory_.empty() && status == rpc::AcceptStat::success) pass_on();
    responder::ServerCall& call = call_;
    delete this;
    call.reply(status);
  }
  void drop() override {
    responder::ServerCall& call = call_;
    delete this;
    call.drop();
  }

 private:
  void pass_on();

  HostileService& service_;
  responder::ServerCall& call_;
  Bytes memory_;
  xdr::Encoder results_;
};

void HostileCall::pass_on() {
  const Bytes honest = testing_support::unreduced(results_);
  SpoiledReply reply = take_apart(honest);
  service_.spoil(reply);
  answer_with(call_, reply);
}

void HostileService::handle(responder::ServerCall& call) {
  ++calls_;
  responder::Connection* connection = &call.connection();
  if (std::ranges::find(connections_, connection) == connections_.end()) {
    connections_.push_back(connection);
  }
  honest_.handle(*new HostileCall(*this, call, spoils()));
}

void HostileService::on_connection_closed(responder::Connection& connection) {
  std::erase(connections_, &connection);
  honest_.on_connection_closed(connection);
}

bool HostileService::fires(Rule& rule) {
  if (rule.times == 0) return false;
  if (rule.skip > 0) {
    --rule.skip;
    return false;
  }
  if (rule.times != kForEver) --rule.times;
  ++struck_;
  return true;
}

nfsstat4 HostileService::forced(std::uint32_t opnum) {
  seen.insert(opnum);
  for (Rule& rule : rules_) {
    const bool meant = rule.opnum == kAny || rule.opnum == opnum;
    if (meant && rule.status != NFS4_OK && fires(rule)) return rule.status;
  }
  return NFS4_OK;
}

bool HostileService::spoils() const {
  return std::ranges::any_of(rules_, [](const Rule& rule) { return rule.spoil && rule.times > 0; });
}

bool HostileService::spoil(SpoiledReply& reply) {
  bool any = false;
  for (Rule& rule : rules_) {
    const bool meant = rule.opnum == kAny || reply.find(rule.opnum);
    if (!rule.spoil || !meant || !fires(rule)) continue;
    rule.spoil(reply);
    any = true;
  }
  return any;
}

}  // namespace nfsrdma::hostile
