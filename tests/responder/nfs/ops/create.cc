// RFC 8881 section 18.4.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "tests/responder/nfs/fs/attribute_setter.h"
#include "tests/responder/nfs/ops/new_object.h"
#include "tests/responder/nfs/ops/ops.h"

namespace nfsrdma::responder {

using namespace nfs4;

namespace {

constexpr mode_t kDirectoryMode = 0700;
constexpr mode_t kSpecialMode = 0600;

nfsstat4 make_symlink(int directory, const char* name, std::span<const std::byte> text) {
  const std::string target(reinterpret_cast<const char*>(text.data()), text.size());
  if (target.empty() || target.find('\0') != std::string::npos) return NFS4ERR_INVAL;
  return ::symlinkat(target.c_str(), directory, name) == 0 ? NFS4_OK : status_of_errno(errno);
}

nfsstat4 make_object(int directory, const char* name, const createtype4& what, mode_t mode) {
  int done = -1;
  switch (what.type) {
    case NF4DIR: done = ::mkdirat(directory, name, mode); break;
    case NF4LNK: return make_symlink(directory, name, what.linkdata.data);
    case NF4FIFO: done = ::mknodat(directory, name, S_IFIFO | mode, 0); break;
    case NF4SOCK: done = ::mknodat(directory, name, S_IFSOCK | mode, 0); break;
    case NF4BLK:
    case NF4CHR: {
      const mode_t format = what.type == NF4BLK ? S_IFBLK : S_IFCHR;
      const dev_t device = makedev(what.devdata.specdata1, what.devdata.specdata2);
      done = ::mknodat(directory, name, format | mode, device);
      break;
    }
    default: return NFS4ERR_BADTYPE;
  }
  return done == 0 ? NFS4_OK : status_of_errno(errno);
}

mode_t mode_of(const Attributes& attributes, nfs_ftype4 type) {
  if (attributes.has(FATTR4_MODE)) return attributes.mode;
  return type == NF4DIR ? kDirectoryMode : kSpecialMode;
}

}  // namespace

nfsstat4 op_create(CompoundContext& context, const CREATE4args& args, CREATE4res& result) {
  const Component name(args.objname);
  if (name.status() != NFS4_OK) return name.status();
  if (!context.current->is_directory()) return NFS4ERR_NOTDIR;
  auto attributes = decode_settable(args.createattrs);
  if (!attributes) return attributes.error();
  // Symbolic links have no mode of their own.
  if (args.objtype.type == NF4LNK) attributes->present.clear(FATTR4_MODE);
  const auto directory = context.files().path_fd(context.current);
  if (!directory) return directory.error();
  DirectoryChange change(context, context.current);
  {
    const ActAs act(context.who);
    const mode_t mode = mode_of(*attributes, args.objtype.type);
    const nfsstat4 status = make_object(*directory, name.c_str(), args.objtype, mode);
    if (status != NFS4_OK) return status;
  }
  auto found = context.files().lookup(context.who, context.current, name.c_str());
  if (!found) return found.error();
  const nfsstat4 status =
      finish_new_object(context, *found, *attributes, -1, result.resok4.attrset);
  if (status != NFS4_OK) return status;
  result.resok4.cinfo = change.finish();
  context.set_current(std::move(found->file));
  return NFS4_OK;
}

}  // namespace nfsrdma::responder
