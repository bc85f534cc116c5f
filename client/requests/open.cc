#include "client/requests/open.h"

#include <cerrno>
#include <cstring>
#include <random>
#include <utility>

#include "client/proto/ops_attr.h"
#include "client/requests/steps.h"
#include "client/session/request_context.h"

namespace nfsrdma::client {

using namespace nfs4;

OpenOwner::OpenOwner(std::uint32_t uid) {
  constexpr std::string_view kPrefix = "nfsrdma uid";
  static_assert(kPrefix.size() + sizeof uid <= sizeof text);
  std::memcpy(text.data(), kPrefix.data(), kPrefix.size());
  std::memcpy(text.data() + text.size() - sizeof uid, &uid, sizeof uid);
}

namespace {

verifier4 random_verifier(Reactor& reactor) {
  thread_local std::mt19937_64 random(std::random_device{}());
  const std::uint64_t value = reactor.seen("create verifier", random());
  verifier4 verifier;
  std::memcpy(verifier.data(), &value, verifier.size());
  return verifier;
}

/// `attributes` is valid until the operation has been added.
void set_creation(Reactor& reactor, OPEN4args& args, createmode4 mode, const fattr4& attributes) {
  createhow4& how = args.openhow.how;
  args.openhow.opentype = OPEN4_CREATE;
  how.mode = mode;
  if (mode == EXCLUSIVE4_1) {
    how.ch_createboth = {random_verifier(reactor), attributes};
  } else {
    how.createattrs = attributes;
  }
}

/// The server compares the fileids and goes no further where they differ (RFC 8881 section 18.31).
void add_name_check(Compound& compound, const NameOfFile& by) {
  Attributes wanted;
  wanted.fileid = by.fileid;
  wanted.present.set(FATTR4_FILEID);
  const steps::EncodedAttributes encoded(wanted, wanted.present);
  steps::add_handle(compound, by.directory);
  compound.add(LOOKUP4args{by.name});
  compound.add(VERIFY4args{encoded.view()});
}

constexpr const char* kNameCheck = "the name of an open file";

bool leads_elsewhere(const Error& error) {
  return error.is(Layer::nfs, NFS4ERR_NOT_SAME) || error.is(Layer::nfs, NFS4ERR_NOENT) ||
         error.is(Layer::nfs, NFS4ERR_NOTDIR) || error.is(Layer::nfs, NFS4ERR_STALE);
}

/// ESTALE; or an error of kNameCheck, when the name cannot be looked at.
Result<void> read_name_check(CompoundReader& results) {
  auto same = steps::pass<PUTFH4res, LOOKUP4res, VERIFY4res>(results);
  if (same || same.error().layer != Layer::nfs) return same;
  if (leads_elsewhere(same.error())) {
    return fail(Error::local(ESTALE, "OPEN", "its name leads elsewhere now"));
  }
  return fail(Error{Layer::nfs, same.error().code, kNameCheck, {}});
}

void add_open(RequestContext& context, Compound& compound, std::uint32_t uid,
              const OpenRequest& request) {
  const OpenOwner owner(uid);
  OPEN4args args;
  args.share_access = request.share_access | request.want;
  args.share_deny = OPEN4_SHARE_DENY_NONE;
  args.owner.clientid = context.client.clientid();
  args.owner.owner = owner.bytes();
  args.claim.claim = request.claim;
  args.claim.file = request.name;
  args.claim.delegate_type = request.delegate_type;
  args.claim.oc_delegate_stateid = request.delegation;
  steps::add_handle(compound, request.object);
  if (!request.new_file) return compound.add(args);
  compound.set_ends_with_caller();
  const NewFile& made = *request.new_file;
  const steps::EncodedAttributes encoded(made.attributes, made.in_open);
  set_creation(context.reactor, args, made.mode, encoded.view());
  compound.add(args);
}

std::optional<GrantedDelegation> delegation_of(const open_delegation4& delegation) {
  switch (delegation.delegation_type) {
    case OPEN_DELEGATE_READ:
      return GrantedDelegation{delegation.read.stateid, false, delegation.read.recall};
    case OPEN_DELEGATE_WRITE:
      return GrantedDelegation{delegation.write.stateid, true, delegation.write.recall};
    case OPEN_DELEGATE_NONE:
    case OPEN_DELEGATE_NONE_EXT: break;
  }
  return std::nullopt;
}

Result<OpenGranted> read_open(CompoundReader& results) {
  TRY(steps::pass<PUTFH4res>(results));
  OPEN4res result;
  TRY(results.read(result));
  const OPEN4resok& ok = result.resok4;
  return OpenGranted{ok.stateid, ok.rflags, ok.attrset, ok.cinfo, delegation_of(ok.delegation)};
}

/// A right that the server does not know how to judge is not refused.
Result<std::uint32_t> read_refused(CompoundReader& results, std::uint32_t rights) {
  nfs4::ACCESS4res result;
  TRY(results.read(result));
  return rights & result.resok4.supported & ~result.resok4.access;
}

/// What stands behind OPEN and GETFH. Without ACCESS nothing behind that was done.
void read_rest(RequestContext& context, Compound& compound, const OpenRequest& request,
               OpenAnswer& answer) {
  CompoundReader& results = compound.results();
  if (request.rights != 0) {
    auto refused = read_refused(results, request.rights);
    if (!refused) {
      answer.attributes = fail_from(refused);
      return;
    }
    answer.refused = *refused;
  }
  const std::size_t first = request.first.bytes.size();
  if (first == 0) {
    answer.attributes = steps::read_last_attributes(context, results, answer.names);
    return;
  }
  answer.attributes = steps::read_facts(results);
  if (!answer.attributes) return;
  context.ids.resolve(*answer.attributes, answer.names);
  auto read = take_read(compound, first);
  if (read) answer.first = std::move(*read);
}

Result<OpenAnswer> read_answer(RequestContext& context, Compound& compound,
                               const OpenRequest& request) {
  CompoundReader& results = compound.results();
  auto granted = read_open(results);
  if (!granted) return fail_from(granted);
  auto handle = steps::read_handle(results);
  if (!handle) return fail_from(handle);
  OpenAnswer answer{*granted, *handle, Attributes(), {}};
  read_rest(context, compound, request, answer);
  return answer;
}

Task<Result<OpenAnswer>> send_once(RequestContext& context, Credential caller,
                                   OpenRequest request) {
  CompoundRef compound = co_await context.session.compound(caller);
  if (!compound) co_return fail(steps::ending());
  if (request.by) add_name_check(*compound, *request.by);
  add_open(context, *compound, caller.uid, request);
  compound->add(GETFH4args{});
  if (request.rights != 0) compound->add(ACCESS4args{request.rights});
  steps::add_attributes(*compound);
  if (!request.first.bytes.empty()) add_read(*compound, request.first);
  auto answered = co_await context.session.execute(*compound);
  CO_TRY(answered);
  if (request.by) {
    auto same = read_name_check(compound->results());
    CO_TRY(same);
  }
  co_return read_answer(context, *compound, request);
}

}  // namespace

Task<Result<OpenAnswer>> send_open(RequestContext& context, Credential caller,
                                   OpenRequest request) {
  // SEQUENCE, PUTFH, LOOKUP, VERIFY, PUTFH, OPEN, GETFH, ACCESS, GETATTR, READ.
  constexpr std::uint32_t kAllOperations = 10;
  const std::uint32_t most = context.session.limits().max_operations;
  if (request.by && most < kAllOperations) request.first = {};
  if (request.by && most < kAllOperations - 1) request.rights = 0;
  auto answer = co_await send_once(context, caller, request);
  // The caller may not search the directory, or the server does not compare.
  if (!answer && request.by && answer.error().step == kNameCheck) {
    request.by.reset();
    answer = co_await send_once(context, caller, request);
  }
  co_return answer;
}

Task<Result<OpenGranted>> send_claim(RequestContext& context, Credential caller,
                                     OpenRequest request, Sending sending) {
  CompoundRef compound = co_await begin(context, caller, sending);
  if (!compound) co_return fail(no_request(sending));
  add_open(context, *compound, caller.uid, request);
  auto answered = co_await execute(context, *compound, sending);
  CO_TRY(answered);
  co_return read_open(compound->results());
}

}  // namespace nfsrdma::client
