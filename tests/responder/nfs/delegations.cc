#include "tests/responder/nfs/delegations.h"

#include <algorithm>
#include <utility>

#include "tests/proto/operations.h"
#include "tests/responder/nfs/callbacks.h"
#include "tests/responder/nfs/compound_context.h"
#include "transport/base/log.h"

namespace nfsrdma::responder {

using namespace nfs4;

namespace {

/// How often unanswered recalls are repeated and overdue ones looked for.
constexpr Duration kCheckInterval = std::chrono::milliseconds(500);

bool wants_writing(const OPEN4args& args) {
  return (args.share_access & OPEN4_SHARE_ACCESS_WRITE) != 0;
}

open_delegation4 none(std::uint32_t share_access) {
  open_delegation4 delegation;
  const std::uint32_t want = share_access & OPEN4_SHARE_ACCESS_WANT_DELEG_MASK;
  if (want == OPEN4_SHARE_ACCESS_WANT_NO_PREFERENCE) return delegation;
  delegation.delegation_type = OPEN_DELEGATE_NONE_EXT;
  delegation.od_whynone.ond_why = WND4_RESOURCE;
  if (want == OPEN4_SHARE_ACCESS_WANT_NO_DELEG) {
    delegation.od_whynone.ond_why = WND4_NOT_WANTED;
  } else if (want == OPEN4_SHARE_ACCESS_WANT_CANCEL) {
    delegation.od_whynone.ond_why = WND4_CANCELLED;
  }
  return delegation;
}

bool declined(std::uint32_t share_access) {
  const std::uint32_t want = share_access & OPEN4_SHARE_ACCESS_WANT_DELEG_MASK;
  return want == OPEN4_SHARE_ACCESS_WANT_NO_DELEG || want == OPEN4_SHARE_ACCESS_WANT_CANCEL;
}

}  // namespace

Delegations::Delegations(const ServiceConfig& config, Reactor& reactor, StateTable& states,
                         SessionTable& sessions, DelegationCounters& counters)
    : config_(config),
      reactor_(reactor),
      states_(states),
      sessions_(sessions),
      counters_(counters),
      timer_(reactor, [this] { check_recalled(); }) {}

Delegations::~Delegations() { *alive_ = false; }

open_delegation4 Delegations::grant(CompoundContext& context, const OPEN4args& args,
                                    const FileRef& file) {
  // As Linux knfsd, which looks at what is wanted before it looks at the claim.
  if (declined(args.share_access)) return none(args.share_access);
  bool for_writing = wants_writing(args);
  if (args.claim.claim == CLAIM_PREVIOUS) {
    if (args.claim.delegate_type == OPEN_DELEGATE_NONE) return none(args.share_access);
    for_writing = args.claim.delegate_type == OPEN_DELEGATE_WRITE;
  }
  if (!may_grant(context, *file, for_writing)) return none(args.share_access);
  const DelegationState& added = states_.add_delegation(*context.client, file, for_writing);
  counters_.granted.add();
  open_delegation4 delegation;
  if (for_writing) {
    delegation.delegation_type = OPEN_DELEGATE_WRITE;
    delegation.write.stateid = states_.stateid_of(added);
    delegation.write.space_limit.filesize = UINT64_MAX;
  } else {
    delegation.delegation_type = OPEN_DELEGATE_READ;
    delegation.read.stateid = states_.stateid_of(added);
  }
  return delegation;
}

// A read delegation stands beside readers only, a write delegation beside its own client only.
bool Delegations::may_grant(const CompoundContext& context, const File& file,
                            bool for_writing) const {
  const DelegationKind most = config_.delegations;
  if (most == DelegationKind::none || (for_writing && most != DelegationKind::write)) return false;
  if (for_writing && put_off_.any_starves(reactor_.now())) return false;
  if (!context.session || !context.session->back.connection) return false;
  const auto contended = contended_.find(file.key());
  if (contended != contended_.end() && reactor_.now() < contended->second) return false;
  const auto stands_in_the_way = [&](const OpenState* open) {
    if (for_writing) return &open->client != context.client;
    return (open->share.access & OPEN4_SHARE_ACCESS_WRITE) != 0;
  };
  if (std::ranges::any_of(states_.opens_of(file), stands_in_the_way)) return false;
  return std::ranges::none_of(states_.delegations_of(file), [&](const DelegationState* other) {
    return for_writing || other->writes || &other->client == context.client;
  });
}

nfsstat4 Delegations::make_way(const Client& client, const File& file, std::uint32_t access) {
  const bool changes = (access & OPEN4_SHARE_ACCESS_WRITE) != 0;
  nfsstat4 status = NFS4_OK;
  for (DelegationState* delegation : states_.delegations_of(file)) {
    if (&delegation->client == &client || delegation->revoked) continue;
    if (!changes && !delegation->writes) continue;
    recall(*delegation);
    status = NFS4ERR_DELAY;
  }
  return status;
}

void Delegations::recall(DelegationState& delegation) {
  if (delegation.recalled_at || delegation.revoked) return;
  counters_.recalls.add();
  delegation.recalled_at = reactor_.now();
  if (!timer_.armed()) timer_.arm(kCheckInterval);
  send_recall(delegation);
}

Session* Delegations::session_of(const Client& client) {
  Session* found = nullptr;
  sessions_.for_each([&](Session& session) {
    if (session.client == &client && session.back.connection) found = &session;
  });
  return found;
}

void Delegations::send_recall(DelegationState& delegation) {
  Session* session = session_of(delegation.client);
  if (!session || delegation.asking) return;
  delegation.asking = true;
  CB_RECALL4args args;
  args.stateid = states_.stateid_of(delegation);
  args.fh = delegation.file->handle();
  const auto done = [this, alive = alive_, id = delegation.id](const Result<xdr::Decoder>& result) {
    if (!*alive) return;
    CB_RECALL4res answer;
    answer.status = NFS4ERR_DELAY;
    if (result) {
      xdr::Decoder in = *result;
      decode_result(in, answer);
    }
    ended(id, answer.status == NFS4_OK);
  };
  call_client(*session, {[args](xdr::Encoder& out) { encode_operation(out, args); }, done});
}

void Delegations::ended(std::uint64_t id, bool told) {
  DelegationState* delegation = states_.find_delegation(id);
  if (!delegation) return;
  delegation->asking = false;
  delegation->told |= told;
}

void Delegations::check_recalled() {
  std::erase_if(contended_, [&](const auto& entry) { return entry.second <= reactor_.now(); });
  bool waiting = put_off_.sweep(reactor_.now()) || !contended_.empty();
  for (DelegationState* delegation : states_.all_delegations()) {
    if (!delegation->recalled_at || delegation->revoked) continue;
    if (reactor_.now() - *delegation->recalled_at >= std::chrono::seconds(config_.lease_seconds)) {
      revoke(*delegation);
      continue;
    }
    waiting = true;
    if (!delegation->told) send_recall(*delegation);
  }
  if (waiting) timer_.arm(kCheckInterval);
}

void Delegations::revoke(DelegationState& delegation) {
  log::info("a delegation that was not returned is revoked");
  counters_.revoked.add();
  delegation.revoked = true;
  put_off_.note_known(delegation.file->key());
  ++delegation.client.revoked_delegations;
}

void Delegations::remove(DelegationState& delegation) {
  if (delegation.revoked) {
    --delegation.client.revoked_delegations;
  } else {
    counters_.returned.add();
  }
  put_off_.note_known(delegation.file->key());
  if (delegation.recalled_at) {
    contended_[delegation.file->key()] = reactor_.now() + kContention;
    if (!timer_.armed()) timer_.arm(kCheckInterval);
  }
  states_.remove_delegation(delegation);
}

nfsstat4 Delegations::ask_holder(CompoundContext& context, Attributes& attributes, bool& dirty) {
  const File& file = *context.current;
  for (DelegationState* delegation : states_.delegations_of(file)) {
    const bool own = &delegation->client == context.client;
    if (!delegation->writes || delegation->revoked || own) continue;
    if (!put_off_.is_served(file.key(), context.identity(), reactor_.now())) {
      send_getattr(*delegation);
      if (!timer_.armed()) timer_.arm(kCheckInterval);
      return NFS4ERR_DELAY;
    }
    // Its answer may have been overtaken by its own writes.
    if (delegation->change < attributes.change) continue;
    attributes.size = delegation->size.value_or(attributes.size);
    dirty = delegation->change > attributes.change;
  }
  return NFS4_OK;
}

void Delegations::send_getattr(DelegationState& delegation) {
  Session* session = session_of(delegation.client);
  if (!session) return recall(delegation);
  if (delegation.asking) return;
  delegation.asking = true;
  counters_.asked.add();
  const CB_GETATTR4args args{delegation.file->handle(), {FATTR4_CHANGE, FATTR4_SIZE}};
  const auto done = [this, alive = alive_, id = delegation.id](const Result<xdr::Decoder>& result) {
    if (*alive) take_attributes(id, result);
  };
  call_client(*session, {[args](xdr::Encoder& out) { encode_operation(out, args); }, done});
}

void Delegations::take_attributes(std::uint64_t id, const Result<xdr::Decoder>& result) {
  ended(id, false);
  DelegationState* delegation = states_.find_delegation(id);
  if (!delegation) return;
  CB_GETATTR4res answer;
  answer.status = NFS4ERR_DELAY;
  if (result) {
    xdr::Decoder in = *result;
    decode_result(in, answer);
  }
  delegation->size.reset();
  delegation->change = 0;
  if (answer.status == NFS4_OK) {
    const auto told = decode_attributes(answer.resok4.obj_attributes);
    if (told && told->has(FATTR4_SIZE)) delegation->size = told->size;
    if (told && told->has(FATTR4_CHANGE)) delegation->change = told->change;
  }
  // If the holder does not answer, use the server's own attributes.
  put_off_.note_known(delegation->file->key());
}

std::size_t Delegations::recall_all() {
  const auto all = states_.all_delegations();
  for (DelegationState* delegation : all) recall(*delegation);
  return all.size();
}

void Delegations::recall_any(std::uint32_t keep) {
  CB_RECALL_ANY4args args;
  args.craa_objects_to_keep = keep;
  args.craa_type_mask = {RCA4_TYPE_MASK_RDATA_DLG, RCA4_TYPE_MASK_WDATA_DLG};
  sessions_.for_each([&](Session& session) {
    if (!session.client || !session.back.connection) return;
    call_client(session, {[args](xdr::Encoder& out) { encode_operation(out, args); },
                          [](const Result<xdr::Decoder>&) {}});
  });
}

nfsstat4 recall_from_others(CompoundContext& context, const File& file, std::uint32_t access) {
  return context.server.clients->delegations.make_way(*context.client, file, access);
}

nfsstat4 recall_by_key(CompoundContext& context, const InodeKey& key) {
  const FileRef file = context.files().known(key);
  return file ? recall_from_others(context, *file, OPEN4_SHARE_ACCESS_WRITE) : NFS4_OK;
}

}  // namespace nfsrdma::responder
