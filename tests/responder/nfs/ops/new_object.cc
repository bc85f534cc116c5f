#include "tests/responder/nfs/ops/new_object.h"

#include "tests/responder/nfs/fs/attribute_setter.h"

namespace nfsrdma::responder {

using namespace nfs4;

nfsstat4 finish_new_object(CompoundContext& context, const FoundFile& made, Attributes attributes,
                           int fd, bitmap4& set) {
  constexpr mode4 kModeBits = 07777;
  if (attributes.has(FATTR4_MODE)) {
    // A directory may have inherited the set-group-id bit of the one it is in.
    const mode4 inherited = made.stat.x.stx_mode & S_ISGID;
    attributes.mode |= inherited;
    if ((made.stat.x.stx_mode & kModeBits) == attributes.mode) {
      attributes.present.clear(FATTR4_MODE);
      set.set(FATTR4_MODE);
    }
  }
  if (attributes.has(FATTR4_SIZE) && attributes.size == 0) {
    attributes.present.clear(FATTR4_SIZE);
    set.set(FATTR4_SIZE);
  }
  context.changed(made.file);
  if (attributes.present.empty()) return NFS4_OK;
  return apply_attributes(context.files(), context.who, made.file, attributes, fd, set);
}

}  // namespace nfsrdma::responder
