#include "client/requests/create.h"

#include <cerrno>
#include <cstring>

#include "client/requests/done_before.h"
#include "client/requests/lookup.h"
#include "client/requests/steps.h"
#include "client/session/request_context.h"
#include "transport/base/buffer_wait.h"

namespace nfsrdma::client {
namespace {

using namespace nfs4;

/// Mode of a symbolic link, as on local file systems. No system checks it, but without it a server
/// may show any mode.
constexpr std::uint32_t kSymlinkMode = 0777;

struct NewObject {
  createtype4 type;
  SetAttributes attributes;
  Buffer text;  ///< registered memory of a symbolic link's target
};

/// The reply of CREATE: the handle is certain, the attributes may have to be fetched.
struct Created {
  NameChange directory;
  FileHandle handle;
  Result<Attributes> attributes;
  OwnerNames names;
};

Result<Created> read_created(RequestContext& context, CompoundReader& results) {
  CREATE4res result;
  TRY(steps::pass<PUTFH4res>(results));
  TRY(results.read(result));
  auto handle = steps::read_handle(results);
  if (!handle) return fail_from(handle);
  OwnerNames names;
  auto attributes = steps::read_last_attributes(context, results, names);
  return Created{result.resok4.cinfo, *handle, std::move(attributes), std::move(names)};
}

/// Whether an existing object can be the one that this request has made. The server may have
/// changed the upper mode bits; a directory of ours has nothing in it yet.
bool is_as_made(const Attributes& found, const NewObject& wanted) {
  constexpr std::uint32_t kPermissionBits = 0777;
  constexpr std::uint32_t kLinksOfEmptyDirectory = 2;
  if (found.type != wanted.type.type) return false;
  if (found.type == NF4DIR && found.numlinks > kLinksOfEmptyDirectory) return false;
  if (found.type == NF4LNK) return found.size == wanted.type.linkdata.data.size();
  return (found.mode & kPermissionBits) == (*wanted.attributes.mode & kPermissionBits);
}

Task<Result<Made>> make(RequestContext& context, Credential caller, FileHandle dir,
                        std::string_view name, NewObject object) {
  const steps::Name copy(name);
  CompoundRef compound = co_await context.session.compound(caller);
  if (!compound) co_return fail(steps::ending());
  steps::add_handle(*compound, dir);
  {
    const Attributes attributes = steps::settable(object.attributes);
    const steps::EncodedAttributes encoded(attributes, attributes.present);
    compound->set_ends_with_caller();
    compound->add(CREATE4args{object.type, copy.view(), encoded.view()});
  }
  steps::add_found(*compound);
  compound->call().keep(std::move(object.text));
  auto answered = co_await context.session.execute(*compound);
  CO_TRY(answered);
  auto created = read_created(context, compound->results());
  if (!created && may_be_done(*compound, created.error(), NFS4ERR_EXIST)) {
    compound.reset();
    auto found = co_await lookup(context, caller, dir, copy.view());
    if (found && is_as_made(found->attributes, object)) co_return Made{*std::move(found), {}};
  }
  CO_TRY(created);
  compound.reset();
  const FileHandle handle = created->handle;
  const NameChange directory = created->directory;
  auto attributes = co_await steps::or_fetch(
      context, caller, handle, std::move(created->attributes), std::move(created->names));
  CO_TRY(attributes);
  co_return Made{{handle, *attributes}, directory};
}

}  // namespace

Task<Result<Made>> make_directory(RequestContext& context, Credential caller, FileHandle dir,
                                  std::string_view name, std::uint32_t mode) {
  NewObject object;
  object.type.type = NF4DIR;
  object.attributes.mode = mode;
  auto made = co_await make(context, caller, dir, name, std::move(object));
  co_return made;
}

Task<Result<Made>> make_symlink(RequestContext& context, Credential caller, FileHandle dir,
                                std::string_view name, std::string_view target) {
  NewObject object;
  object.type.type = NF4LNK;
  object.attributes.mode = kSymlinkMode;
  // Registered memory for the target, which the server fetches. Waiting for it may suspend.
  const steps::Name name_copy(name);
  const std::string target_copy(target);
  object.text = co_await acquire_when_free(context.reactor, context.message_pool);
  if (target_copy.size() > object.text.size()) {
    co_return fail(Error::local(ENAMETOOLONG, "CREATE", "the target of the link is too long"));
  }
  std::memcpy(object.text.data(), target_copy.data(), target_copy.size());
  object.type.linkdata.data = object.text.first(target_copy.size());
  auto made = co_await make(context, caller, dir, name_copy.view(), std::move(object));
  co_return made;
}

Task<Result<Made>> make_node(RequestContext& context, Credential caller, FileHandle dir,
                             std::string_view name, nfs_ftype4 type, std::uint32_t mode,
                             specdata4 device) {
  NewObject object;
  object.type.type = type;
  object.type.devdata = device;
  object.attributes.mode = mode;
  auto made = co_await make(context, caller, dir, name, std::move(object));
  co_return made;
}

}  // namespace nfsrdma::client
