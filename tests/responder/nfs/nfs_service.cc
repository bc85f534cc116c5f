#include "tests/responder/nfs/nfs_service.h"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "tests/hostile/as_word.h"
#include "tests/proto/operations.h"
#include "tests/responder/nfs/callbacks.h"
#include "tests/responder/nfs/compound.h"
#include "tests/responder/nfs/server_state.h"
#include "transport/base/log.h"

namespace nfsrdma::responder {

using namespace nfs4;

/// A reply that waits for its time.
class NfsService::HeldReply {
 public:
  HeldReply(NfsService& service, ServerCall& call, CompoundOutcome outcome)
      : service_(service),
        call_(&call),
        outcome_(std::move(outcome)),
        timer_(service.state_->reactor, [this] { fire(); }) {
    timer_.arm(outcome_.delay);
  }
  ~HeldReply() {
    if (call_) call_->drop();
  }

 private:
  void fire() {
    service_.release_slot(outcome_);
    std::exchange(call_, nullptr)->reply(outcome_.accept);
    auto& held = service_.held_;
    const auto self = std::ranges::find(held, this, &std::unique_ptr<HeldReply>::get);
    std::unique_ptr<HeldReply> done = std::move(*self);
    held.erase(self);
    service_.state_->reactor.dispose(std::move(done));
  }

  NfsService& service_;
  ServerCall* call_;
  CompoundOutcome outcome_;
  Timer timer_;
};

Result<std::unique_ptr<NfsService>> NfsService::create(Reactor& reactor, ServiceConfig config) {
  // With a mask the mode would have to be set by a second call, as the caller: the kernel then
  // takes the inherited set-group-id bit away from the directory of one who is not in its group.
  ::umask(0);
  auto files = FileTable::open(config);
  if (!files) return fail_from(files);
  std::unique_ptr<NfsService> service(new NfsService(reactor));
  service->state_ = std::make_unique<ServerState>(config, reactor, std::move(*files));
  service->begin_instance(true, config.grace_seconds);
  return service;
}

NfsService::NfsService(Reactor& reactor) : lease_timer_(reactor, [this] { check_leases(); }) {}

NfsService::~NfsService() { held_.clear(); }

void NfsService::begin_instance(bool first, std::uint32_t grace_seconds) {
  ServerState& state = *state_;
  std::set<std::string> reclaimers;
  if (!first) reclaimers = state.clients->clients.confirmed_owners();
  // A grace period that was cut short has not been theirs (RFC 8881 section 8.4.3).
  if (!first && state.instance.in_grace(state.reactor.now())) {
    reclaimers.merge(state.instance.reclaimers);
  }
  const TimePoint grace_ends = state.reactor.now() + std::chrono::seconds(grace_seconds);
  state.instance = Instance::begin(grace_ends, std::move(reclaimers), first);
  state.clients = std::make_unique<ClientState>(state.config, state.instance.number, *state.files,
                                                state.reactor, state.delegation_counters);
}

void NfsService::restart(std::uint32_t grace_seconds) {
  restarts_.add();
  unstable_writes_lost_.add(state_->unstable.lose());
  begin_instance(false, grace_seconds);
}

void NfsService::destroy_sessions() { state_->clients->sessions.destroy_all(); }

std::uint32_t NfsService::grace_seconds() const { return state_->config.grace_seconds; }

void NfsService::handle(ServerCall& call) {
  switch (call.header().procedure) {
    case kProcNull: return call.reply(rpc::AcceptStat::success);
    case kProcCompound: break;
    default: return call.reply(rpc::AcceptStat::proc_unavail);
  }
  compounds_.add();
  const CompoundOutcome outcome = execute_compound(*state_, call);
  if (!lease_timer_.armed() && !state_->clients->clients.empty()) {
    lease_timer_.arm(std::chrono::seconds(state_->config.lease_seconds));
  }
  if (outcome.delay > Duration::zero()) {
    held_.push_back(std::make_unique<HeldReply>(*this, call, outcome));
    return;
  }
  release_slot(outcome);
  call.reply(outcome.accept);
}

void NfsService::release_slot(const CompoundOutcome& outcome) {
  if (!outcome.session) return;
  outcome.session->slots[outcome.slot].in_progress = false;
  Client* client = outcome.session->client;
  if (!client) return;
  client->lease_ends = state_->lease_end();
  --client->requests_open;
}

void NfsService::on_connection_closed(Connection& connection) {
  state_->clients->sessions.connection_closed(connection);
}

void NfsService::check_leases() {
  ClientTable& clients = state_->clients->clients;
  if (const std::size_t expired = clients.expire(state_->reactor.now())) {
    expired_clients_.add(expired);
    log::info("{} clients' leases have expired", expired);
  }
  if (!clients.empty()) lease_timer_.arm(std::chrono::seconds(state_->config.lease_seconds));
}

void NfsService::inject(const OperationFault& fault) { state_->faults.add(fault); }
void NfsService::set_most_written(std::size_t bytes) { state_->faults.most_written = bytes; }
void NfsService::set_most_read(std::size_t bytes) { state_->faults.most_read = bytes; }
void NfsService::set_keeps_unlinked(bool keeps) { state_->faults.keeps_unlinked = keeps; }

void NfsService::set_never_stable(bool never) { state_->faults.never_stable = never; }
void NfsService::clear_faults() { state_->faults.clear(); }
std::uint64_t NfsService::faults_applied() const { return state_->faults.applied(); }

void NfsService::set_target_slots(std::uint32_t slots, bool recall) {
  SessionTable& sessions = state_->clients->sessions;
  sessions.set_target_slots(slots);
  if (recall) sessions.for_each([](Session& session) { recall_slots(session); });
}

std::optional<std::size_t> NfsService::send_callbacks(std::string_view name, std::uint32_t count,
                                                      std::size_t cut) {
  const auto kinds = hostile::hostile_callbacks();
  const auto kind = std::ranges::find_if(
      kinds, [name](const hostile::Callback& each) { return hostile::as_word(each.name) == name; });
  if (kind == kinds.end()) return std::nullopt;
  std::size_t sent = 0;
  state_->clients->sessions.for_each(
      [&](Session& session) { sent += send_hostile(session, kind->encode, count, cut); });
  return sent;
}

std::vector<std::string> NfsService::callback_names() {
  std::vector<std::string> names;
  for (const auto& kind : hostile::hostile_callbacks())
    names.push_back(hostile::as_word(kind.name));
  return names;
}

void NfsService::end_grace() { state_->instance.grace_ends = {}; }

std::size_t NfsService::expire_clients() {
  const std::size_t expired = state_->clients->clients.expire(TimePoint::max());
  expired_clients_.add(expired);
  return expired;
}

std::size_t NfsService::recall_delegations() { return state_->clients->delegations.recall_all(); }

std::size_t NfsService::revoke_locks() { return state_->clients->states.revoke_locks(); }

void NfsService::recall_any_delegations(std::uint32_t keep) {
  state_->clients->delegations.recall_any(keep);
}

void NfsService::visit_counters(CounterVisitor& visitor) const {
  visitor.visit("nfs.compounds", compounds_.value());
  visitor.visit("nfs.expired_clients", expired_clients_.value());
  visitor.visit("nfs.restarts", restarts_.value());
  visitor.visit("nfs.unstable_writes_lost", unstable_writes_lost_.value());
  visitor.visit("nfs.faults_applied", faults_applied());
  visitor.visit("nfs.known_files", state_->files->size());
  visitor.visit("nfs.clients", state_->clients->clients.size());
  visitor.visit("nfs.sessions", state_->clients->sessions.size());
  visitor.visit("nfs.states", state_->clients->states.size());
  const DelegationCounters& delegations = state_->delegation_counters;
  visitor.visit("nfs.delegations", state_->clients->states.delegations());
  visitor.visit("nfs.delegations_granted", delegations.granted.value());
  visitor.visit("nfs.delegations_recalled", delegations.recalls.value());
  visitor.visit("nfs.delegations_returned", delegations.returned.value());
  visitor.visit("nfs.delegations_revoked", delegations.revoked.value());
  visitor.visit("nfs.delegation_holders_asked", delegations.asked.value());
}

}  // namespace nfsrdma::responder
