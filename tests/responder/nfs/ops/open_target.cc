#include "tests/responder/nfs/ops/open_target.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "client/proto/ops_open.h"
#include "tests/responder/nfs/fs/attribute_setter.h"
#include "tests/responder/nfs/fs/attributes.h"
#include "tests/responder/nfs/ops/new_object.h"

namespace nfsrdma::responder {

using namespace nfs4;

namespace {

constexpr mode_t kFileMode = 0600;

bool is_exclusive(createmode4 mode) { return mode == EXCLUSIVE4 || mode == EXCLUSIVE4_1; }

const verifier4& verifier_of(const createhow4& how) {
  return how.mode == EXCLUSIVE4 ? how.createverf : how.ch_createboth.cva_verf;
}

/// The verifier as times that every file system keeps.
Attributes times_of(const verifier4& verifier) {
  constexpr std::uint32_t kSecondsBits = 0x7fffffff;
  std::array<std::uint32_t, 2> words;
  static_assert(sizeof words == sizeof verifier);
  std::memcpy(words.data(), verifier.data(), sizeof words);
  Attributes times;
  times.present = {FATTR4_TIME_ACCESS_SET, FATTR4_TIME_MODIFY_SET};
  times.time_access_set = {SET_TO_CLIENT_TIME4, {words[0] & kSecondsBits, 0}};
  times.time_modify_set = {SET_TO_CLIENT_TIME4, {words[1] & kSecondsBits, 0}};
  return times;
}

/// Keeps the verifier of an exclusive create for a repetition.
nfsstat4 keep_verifier(CompoundContext& context, OpenTarget& target, const verifier4& verifier) {
  if (!context.server.config.verifier_in_times) {
    context.server.exclusive_creates.remember(target.found.file->key(), verifier);
    return NFS4_OK;
  }
  bitmap4 set;
  target.attrset = target.attrset | bitmap4{FATTR4_TIME_ACCESS, FATTR4_TIME_MODIFY};
  return apply_attributes(context.files(), context.who, target.found.file, times_of(verifier),
                          /*size_fd=*/-1, set);
}

/// Whether the file was made with this verifier.
bool has_verifier(CompoundContext& context, const FoundFile& found, const verifier4& verifier) {
  if (!context.server.config.verifier_in_times) {
    return context.server.exclusive_creates.matches(found.file->key(), verifier);
  }
  const Attributes times = times_of(verifier);
  const auto& x = found.stat.x;
  return x.stx_size == 0 && x.stx_atime.tv_sec == times.time_access_set.time.seconds &&
         x.stx_mtime.tv_sec == times.time_modify_set.time.seconds;
}

Outcome<Attributes> attributes_of(const CompoundContext& context, const createhow4& how) {
  if (how.mode == EXCLUSIVE4_1) {
    const bitmap4 possible = exclusive_create_attributes(context.server.config);
    const bitmap4 asked = how.ch_createboth.cva_attrs.attrmask;
    if (!((asked & settable_attributes()) - possible).empty()) return refuse(NFS4ERR_INVAL);
  }
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
  nfsstat4 status =
      finish_new_object(context, target.found, attributes, target.made.get(), target.attrset);
  if (status == NFS4_OK && is_exclusive(how.mode)) {
    status = keep_verifier(context, target, verifier_of(how));
  }
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
    if (!has_verifier(context, target->found, verifier_of(how))) return refuse(NFS4ERR_EXIST);
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
  const auto attributes = attributes_of(context, how);
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
