#include "client/requests/setattr.h"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "client/names/id_map.h"
#include "client/proto/ops_attr.h"
#include "client/requests/steps.h"
#include "client/session/request_context.h"

namespace nfsrdma::client {
namespace {

/// Owners as names, for a server that refuses numbers. An empty one goes as a number.
struct NamedOwners {
  std::string user;
  std::string group;
};

Attributes to_set(const SetAttributes& change, const NamedOwners& named) {
  Attributes attributes = steps::settable(change);
  if (!named.user.empty()) attributes.owner = {0, false, named.user};
  if (!named.group.empty()) attributes.owner_group = {0, false, named.group};
  return attributes;
}

/// No longer than EncodedAttributes has room for.
Task<std::string> name_for(RequestContext& context, OwnerKind kind,
                           std::optional<std::uint32_t> number) {
  std::string name;
  if (!number) co_return name;
  name = co_await context.ids.name_of(kind, *number);
  if (name.size() > nfs4::kMaxOwner) name.clear();
  co_return name;
}

Task<NamedOwners> names_for(RequestContext& context, SetAttributes change) {
  NamedOwners named;
  named.user = co_await name_for(context, OwnerKind::user, change.uid);
  named.group = co_await name_for(context, OwnerKind::group, change.gid);
  co_return named;
}

/// One SETATTR.
Task<Result<Changed>> set(RequestContext& context, Credential caller, FileHandle file,
                          StateRef state, SetAttributes change, NamedOwners named) {
  CompoundRef compound = co_await context.session.compound(caller);
  if (!compound) co_return fail(steps::ending());
  steps::add_handle(*compound, file);
  steps::add_change_before(*compound);
  {
    const Attributes attributes = to_set(change, named);
    const steps::EncodedAttributes encoded(attributes, attributes.present);
    compound->use_state(std::move(state));
    compound->set_ends_with_caller();
    compound->add(nfs4::SETATTR4args{nfs4::kAnonymousStateid, encoded.view()});
  }
  steps::add_attributes(*compound);
  auto answered = co_await context.session.execute(*compound);
  CO_TRY(answered);
  CompoundReader& results = compound->results();
  auto found = steps::pass<nfs4::PUTFH4res>(results);
  CO_TRY(found);
  auto change_before = steps::read_change_before(results);
  CO_TRY(change_before);
  auto passed = steps::pass<nfs4::SETATTR4res>(results);
  CO_TRY(passed);
  OwnerNames names;
  auto attributes = steps::read_last_attributes(context, results, names);
  // Fetched later, they may be of a version that another client has made.
  if (!attributes) change_before->reset();
  compound.reset();
  auto complete =
      co_await steps::or_fetch(context, caller, file, std::move(attributes), std::move(names));
  CO_TRY(complete);
  co_return Changed{*complete, *change_before};
}

std::string refused_owner(const SetAttributes& change, const NamedOwners& named) {
  const auto text = [](std::optional<std::uint32_t> number, const std::string& name) {
    if (!number) return std::string("unchanged");
    return name.empty() ? fmt::format("{} (which has no name here)", *number)
                        : fmt::format("{} ({})", *number, name);
  };
  return fmt::format(
      "the server takes this owner neither as number nor as name: user {}, group {}; is the "
      "domain that of the server (Domain in /etc/idmapd.conf, or domain=)?",
      text(change.uid, named.user), text(change.gid, named.group));
}

bool is_bad_owner(const Result<Changed>& changed) {
  return !changed && changed.error().is(Layer::nfs, nfs4::NFS4ERR_BADOWNER);
}

}  // namespace

// Owners are sent as numbers, or as names to a server that wants names (RFC 8881 section 5.9) and
// refuses numbers with NFS4ERR_BADOWNER. The form it accepted last is tried first.
Task<Result<Changed>> send_setattr(RequestContext& context, Credential caller, FileHandle file,
                                   StateRef state, SetAttributes change) {
  const bool owners = change.uid || change.gid;
  bool by_name = owners && context.ids.names_preferred();
  NamedOwners named;
  if (by_name) named = co_await names_for(context, change);
  auto changed = co_await set(context, caller, file, state, change, named);
  if (!owners || !is_bad_owner(changed)) co_return changed;
  by_name = !by_name;
  named = {};
  if (by_name) named = co_await names_for(context, change);
  const bool differs = !by_name || !named.user.empty() || !named.group.empty();
  if (differs) changed = co_await set(context, caller, file, std::move(state), change, named);
  if (changed) context.ids.prefer_names(by_name);
  if (is_bad_owner(changed)) changed.error().detail = refused_owner(change, named);
  co_return changed;
}

}  // namespace nfsrdma::client
