#include "client/session/session_setup.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "client/session/exchange.h"
#include "transport/base/log.h"

namespace nfsrdma::client {
namespace {

bool is_status(const Error& error, nfs4::nfsstat4 status) {
  return error.is(Layer::nfs, static_cast<int>(status));
}

/// Adds the administrator's remedy, where one is known.
Error with_remedy(Error error) {
  if (is_status(error, nfs4::NFS4ERR_CLID_INUSE)) {
    error.detail = "another client uses this identity; mount again when its lease has ended";
  } else if (is_status(error, nfs4::NFS4ERR_MINOR_VERS_MISMATCH)) {
    error.detail = "the server does not speak NFSv4.1";
  } else if (error.layer == Layer::rpc) {
    error.detail += error.detail.empty() ? "does the server offer NFSv4?" : "";
  }
  return error;
}

}  // namespace

SessionSetup::SessionSetup(Session& session, CompoundPool& compounds, ClientId& client,
                           const Credential& caller, RequestedLimits requested,
                           BackChannel& back_channel)
    : session_(session),
      compounds_(compounds),
      client_(client),
      caller_(caller),
      requested_(requested),
      back_channel_(back_channel) {}

CompoundRef SessionSetup::begin(const char* step) {
  step_ = step;
  CompoundRef compound = compounds_.acquire_reserved();
  if (compound) compound->begin_unsequenced(caller_, compounds_.machine_name());
  return compound;
}

// The status is read before the results: after a delay the request is built anew.
Task<Result<void>> SessionSetup::ask(rpc::Channel& channel, Compound& compound, TimePoint latest) {
  Backoff backoff;
  for (;;) {
    session_.trace().begin(compound, session_.now());
    auto answered = co_await exchange(channel, compound, compounds_.next_xid(), session_.now());
    session_.trace().end(compound, answered, session_.now());
    if (!answered) co_return fail(with_remedy(std::move(answered.error())));
    const bool put_off = compound.results().status() == nfs4::NFS4ERR_DELAY;
    if (!put_off || session_.now() >= latest) co_return answered;
    const Duration pause = std::min(backoff.next(), latest - session_.now());
    const bool slept = co_await session_.pauses().pause(pause);
    if (!slept) co_return fail(Error::local(ESHUTDOWN, step_, "the mount is ending"));
  }
}

Task<Result<bool>> SessionSetup::exchange_id(rpc::Channel& channel) {
  CompoundRef compound = begin("EXCHANGE_ID");
  if (!compound) co_return fail(Error::local(ENOMEM, step_, "no message slot is free"));
  client_.add_exchange(*compound);
  auto answered = co_await ask(channel, *compound);
  CO_TRY(answered);
  auto accepted = client_.accept_exchange(compound->results());
  if (!accepted) co_return fail(with_remedy(std::move(accepted.error())));
  co_return accepted;
}

Task<Result<void>> SessionSetup::create_session(rpc::Channel& channel) {
  CompoundRef compound = begin("CREATE_SESSION");
  if (!compound) co_return fail(Error::local(ENOMEM, step_, "no message slot is free"));
  nfs4::CREATE_SESSION4args args;
  args.csa_clientid = client_.clientid();
  args.csa_sequence = client_.sequence();
  // CONN_RDMA stays clear: the connection is in RDMA mode from its start (E-8881-12).
  args.csa_flags = nfs4::CREATE_SESSION4_FLAG_CONN_BACK_CHAN;
  args.csa_fore_chan_attrs = fore_channel_request(requested_);
  args.csa_back_chan_attrs = back_channel_request(channel.limits());
  args.csa_cb_program = kCallbackProgram;
  nfs4::callback_sec_parms4 security;
  security.cb_secflavor = nfs4::kAuthSys;
  security.cbsp_sys_cred.machinename = compounds_.machine_name();
  args.csa_sec_parms.push_back(security);
  compound->add(args);
  const TimePoint asked_at = session_.now();
  auto answered = co_await ask(channel, *compound);
  CO_TRY(answered);
  nfs4::CREATE_SESSION4res result;
  auto read = compound->results().read(result);
  if (!read) {
    client_.sequence_refused(compound->results().status());
    co_return fail(with_remedy(std::move(read.error())));
  }
  auto finished = compound->results().finish();
  CO_TRY(finished);
  auto accepted = accept_session(result.csr_resok4, args, asked_at);
  co_return accepted;
}

Result<void> SessionSetup::accept_session(const nfs4::CREATE_SESSION4resok& result,
                                          const nfs4::CREATE_SESSION4args& asked,
                                          TimePoint asked_at) {
  client_.sequence_used();
  TRY(check_fore_channel(asked.csa_fore_chan_attrs, result.csr_fore_chan_attrs));
  TRY(check_back_channel(asked.csa_back_chan_attrs, result.csr_back_chan_attrs));
  if ((result.csr_flags & nfs4::CREATE_SESSION4_FLAG_CONN_BACK_CHAN) == 0) {
    log::info("the server makes no callbacks over this connection");
  }
  session_.limits().apply_session(result.csr_fore_chan_attrs, requested_);
  session_.begin(result.csr_sessionid, result.csr_fore_chan_attrs, requested_.max_slots, asked_at);
  back_channel_.on_session(result.csr_sessionid, result.csr_back_chan_attrs);
  return {};
}

// After every new client id, also with nothing to reclaim: servers refuse ordinary opens before.
Task<Result<void>> SessionSetup::reclaim_complete(rpc::Channel& channel) {
  step_ = "RECLAIM_COMPLETE";
  CompoundRef compound = compounds_.acquire_reserved();
  if (!compound) co_return fail(Error::local(ENOMEM, step_, "no message slot is free"));
  Backoff backoff;
  for (;;) {
    compound->begin(caller_, compounds_.machine_name());
    compound->add(nfs4::RECLAIM_COMPLETE4args{});
    auto answered = co_await session_.execute_on(channel, *compound);
    CO_TRY(answered);
    nfs4::RECLAIM_COMPLETE4res result;
    auto read = compound->results().read(result);
    const bool complete = read || is_status(read.error(), nfs4::NFS4ERR_COMPLETE_ALREADY);
    if (complete) co_return Result<void>{};
    if (!is_status(read.error(), nfs4::NFS4ERR_DELAY)) co_return read;
    const bool slept = co_await session_.pauses().pause(backoff.next());
    if (!slept) co_return fail(Error::local(ESHUTDOWN, step_, "the mount is ending"));
  }
}

Task<Result<void>> SessionSetup::bind(rpc::Channel& channel) {
  CompoundRef compound = begin("BIND_CONN_TO_SESSION");
  if (!compound) co_return fail(Error::local(ENOMEM, step_, "no message slot is free"));
  nfs4::BIND_CONN_TO_SESSION4args args;
  args.bctsa_sessid = session_.id();
  args.bctsa_dir = nfs4::CDFC4_FORE_OR_BOTH;
  compound->add(args);
  auto answered = co_await ask(channel, *compound);
  CO_TRY(answered);
  nfs4::BIND_CONN_TO_SESSION4res result;
  auto read = compound->results().read(result);
  CO_TRY(read);
  auto finished = compound->results().finish();
  CO_TRY(finished);
  if (result.bctsr_resok4.bctsr_dir == nfs4::CDFS4_BACK) {
    co_return fail(Error::local(EPROTO, step_, "the server bound the back channel only"));
  }
  if (result.bctsr_resok4.bctsr_dir != nfs4::CDFS4_BOTH) {
    log::info("the server makes no callbacks over this connection");
  }
  co_return Result<void>{};
}

template <class Res, class Args>
Task<Result<void>> SessionSetup::destroy(rpc::Channel& channel, const char* step, Args args,
                                         TimePoint latest) {
  CompoundRef compound = begin(step);
  if (!compound) co_return fail(Error::local(ENOMEM, step_, "no message slot is free"));
  compound->add(args);
  auto answered = co_await ask(channel, *compound, latest);
  CO_TRY(answered);
  Res result;
  auto read = compound->results().read(result);
  co_return read;
}

Task<Result<void>> SessionSetup::destroy_session(rpc::Channel& channel) {
  return destroy_session_until(channel, kNow);
}

Task<Result<void>> SessionSetup::destroy_session_until(rpc::Channel& channel, TimePoint latest) {
  return destroy<nfs4::DESTROY_SESSION4res>(channel, "DESTROY_SESSION",
                                            nfs4::DESTROY_SESSION4args{session_.id()}, latest);
}

Task<Result<void>> SessionSetup::destroy_client(rpc::Channel& channel) {
  return destroy<nfs4::DESTROY_CLIENTID4res>(channel, "DESTROY_CLIENTID",
                                             nfs4::DESTROY_CLIENTID4args{client_.clientid()}, kNow);
}

}  // namespace nfsrdma::client
