#include "client/requests/security.h"

#include <array>

#include <fmt/format.h>

#include "client/requests/steps.h"
#include "client/session/request_context.h"

namespace nfsrdma::client {
namespace {

using namespace nfs4;

std::string flavour_name(const secinfo4& info) {
  constexpr std::array kGss = {"krb5", "krb5i", "krb5p"};  // by rpc_gss_svc_t, from 1
  switch (info.flavor) {
    case kAuthNone: return "none";
    case kAuthSys: return "sys";
    case kRpcsecGss: return kGss[info.flavor_info.service - RPC_GSS_SVC_NONE];
    default: return fmt::format("flavour {}", info.flavor);
  }
}

std::string names(const std::vector<secinfo4>& list) {
  std::string text;
  for (const secinfo4& info : list) {
    if (!text.empty()) text += ", ";
    text += flavour_name(info);
  }
  return text;
}

template <class Res, class... Before>
Result<std::string> read_names(CompoundReader& results) {
  TRY(steps::pass<Before...>(results));
  Res result;
  TRY(results.read(result));
  return names(result.resok4);
}

}  // namespace

Task<Result<std::string>> flavours_of(RequestContext& context, Credential caller, FileHandle dir,
                                      std::string_view name) {
  const steps::Name copy(name);
  CompoundRef compound = co_await context.session.compound(caller);
  if (!compound) co_return fail(steps::ending());
  steps::add_handle(*compound, dir);
  compound->add(SECINFO4args{copy.view()});
  auto answered = co_await context.session.execute(*compound);
  CO_TRY(answered);
  co_return read_names<SECINFO4res, PUTFH4res>(compound->results());
}

Task<Result<std::string>> flavours_of_root(RequestContext& context, Credential caller) {
  CompoundRef compound = co_await context.session.compound(caller);
  if (!compound) co_return fail(steps::ending());
  compound->add(PUTROOTFH4args{});
  compound->add(SECINFO_NO_NAME4args{});
  auto answered = co_await context.session.execute(*compound);
  CO_TRY(answered);
  co_return read_names<SECINFO_NO_NAME4res, PUTROOTFH4res>(compound->results());
}

}  // namespace nfsrdma::client
