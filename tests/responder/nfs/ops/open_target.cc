#include "tests/responder/nfs/ops/open_target.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "client/proto/ops_open.h"
#include "tests/responder/nfs/fs/attribute_setter.h"
#include "tests/responder/nfs/ops/new_object.h"

namespace nfsrdma::responder {

using namespace nfs4;

namespace {

constexpr mode_t kFileMode = 0600;

bool is_exclusive(createmode4 mode) { return mode == EXCLUSIVE4 || mode == EXCLUSIVE4_1; }

const verifier4& verifier_of(const createhow4& how) {
  return how.mode == EXCLUSIVE4 ? how.createverf : how.ch_createboth.cva_verf;
}

Outcome<Attributes> attributes_of(const createhow4& how) {
  switch (how.mode) {
    case UNCHECKED4:
    case GUARDED4: return decode_settable(how.createattrs);
    case EXCLUSIVE4: return Attributes{};
    case EXCLUSIVE4_1: return decode_settable(how.ch_createboth.cva_attrs);
  }
  return refuse(NFS4ERR_INVAL);
}

int create_flags(std::uint32_t access) {
  constexpr int kCommon = O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
  if (access == OPEN4_SHARE_ACCESS_BOTH) return kCommon | O_RDWR;
  return kCommon | (access == OPEN4_SHARE_ACCESS_WRITE ? O_WRONLY : O_RDONLY);
}

Outcome<OpenTarget> finish_created(CompoundContext& context, const Component& name, UniqueFd fd,
                                   const createhow4& how, const Attributes& attributes) {
  const auto stat = stat_fd(fd.get());
  if (!stat) return refuse(stat.error());
  OpenTarget target;
  target.found = {context.files().adopt(fd.get(), *stat, context.current, name.view()), *stat};
  target.made = std::move(fd);
  if (is_exclusive(how.mode)) {
    context.server.exclusive_creates.remember(stat->key(), verifier_of(how));
  }
  const nfsstat4 status =
      finish_new_object(context, target.found, attributes, target.made.get(), target.attrset);
  if (status == NFS4_OK) return target;
  const auto directory = context.files().path_fd(context.current);
  if (directory) ::unlinkat(*directory, name.c_str(), 0);
  context.files().note_removed(stat->key(), context.current, name.view());
  return refuse(status);
}

Outcome<OpenTarget> use_existing(CompoundContext& context, const Component& name,
                                 const createhow4& how, const Attributes& attributes) {
  if (how.mode == GUARDED4) return refuse(NFS4ERR_EXIST);
  auto target = find_target(context, name);
  if (!target) return target;
  if (is_exclusive(how.mode)) {
    const InodeKey& key = target->found.file->key();
    if (!context.server.exclusive_creates.matches(key, verifier_of(how))) {
      return refuse(NFS4ERR_EXIST);
    }
    target->retried = true;
    target->attrset = attributes.present;
    return target;
  }
  target->truncate = attributes.has(FATTR4_SIZE) && attributes.size == 0;
  return target;
}

}  // namespace

Outcome<OpenTarget> find_target(CompoundContext& context, const Component& name) {
  auto found = context.files().lookup(context.who, context.current, name.c_str());
  if (!found) return refuse(found.error());
  OpenTarget target;
  target.found = std::move(*found);
  return target;
}

Outcome<OpenTarget> create_target(CompoundContext& context, const Component& name,
                                  const createhow4& how, std::uint32_t access) {
  const auto attributes = attributes_of(how);
  if (!attributes) return refuse(attributes.error());
  const auto directory = context.files().path_fd(context.current);
  if (!directory) return refuse(directory.error());
  const mode_t mode = attributes->has(FATTR4_MODE) ? attributes->mode : kFileMode;
  UniqueFd fd;
  {
    const ActAs act(context.who);
    fd.reset(::openat(*directory, name.c_str(), create_flags(access), mode));
  }
  if (fd) return finish_created(context, name, std::move(fd), how, *attributes);
  if (errno != EEXIST) return refuse_errno();
  return use_existing(context, name, how, *attributes);
}

}  // namespace nfsrdma::responder
