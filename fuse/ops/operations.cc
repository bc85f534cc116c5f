#include "fuse/ops/operations.h"

#include <cerrno>
#include <type_traits>

#include "fuse/ops/reply.h"

namespace nfsrdma::fuse {
namespace {

/// The object that a handler is called for; null after the request was refused.
template <class Object, class Arguments>
Object object_of(FileSystem& fs, Request& request, const Arguments& arguments) {
  if constexpr (std::is_same_v<Object, InodeRef>) {
    return inode_or_refuse(fs, request, request.node());
  } else {
    Object object;
    if constexpr (std::is_same_v<Object, FileRef>) {
      object = fs.find_file(arguments.fh);
    } else {
      object = fs.find_directory(arguments.fh);
    }
    if (!object) request.reply_error(EBADF);
    return object;
  }
}

template <auto Handle>
struct On;

template <class Object, class Arguments, void (*Handle)(FileSystem&, Request, Object, Arguments)>
struct On<Handle> {
  static void call(FileSystem& fs, Request request, Arguments arguments) {
    Object object = object_of<Object>(fs, request, arguments);
    if (object) Handle(fs, std::move(request), std::move(object), std::move(arguments));
  }
};

template <class Object, class Arguments,
          Task<void> (*Handle)(FileSystem&, Request, Object, Arguments)>
struct On<Handle> {
  static void call(FileSystem& fs, Request request, Arguments arguments) {
    Object object = object_of<Object>(fs, request, arguments);
    if (object) spawn(Handle(fs, std::move(request), std::move(object), std::move(arguments)));
  }
};

template <auto Handle>
constexpr Handler on = handler<&On<Handle>::call>;

constexpr HandlerTable kOperations = {
    {FUSE_LOOKUP, on<handle::lookup>},
    {FUSE_FORGET, handler<handle::forget>},
    {FUSE_BATCH_FORGET, handler<handle::forget>},
    {FUSE_GETATTR, on<handle::getattr>},
    {FUSE_SETATTR, on<handle::setattr>},
    {FUSE_READLINK, on<handle::readlink>},
    {FUSE_MKNOD, on<handle::mknod>},
    {FUSE_MKDIR, on<handle::mkdir>},
    {FUSE_UNLINK, on<handle::unlink>},
    {FUSE_RMDIR, on<handle::rmdir>},
    {FUSE_SYMLINK, on<handle::symlink>},
    {FUSE_RENAME, on<handle::rename>},
    {FUSE_RENAME2, on<handle::rename>},
    {FUSE_LINK, on<handle::link>},
    {FUSE_OPEN, on<handle::open>},
    {FUSE_CREATE, on<handle::create>},
    {FUSE_READ, on<handle::read>},
    {FUSE_WRITE, on<handle::write>},
    {FUSE_FLUSH, on<handle::flush>},
    {FUSE_FSYNC, on<handle::fsync>},
    {FUSE_RELEASE, handler<handle::release>},
    {FUSE_OPENDIR, on<handle::opendir>},
    {FUSE_READDIR, on<handle::readdir>},
    {FUSE_READDIRPLUS, on<handle::readdir>},
    {FUSE_RELEASEDIR, handler<handle::releasedir>},
    {FUSE_FSYNCDIR, handler<handle::fsyncdir>},
    {FUSE_STATFS, on<handle::statfs>},
    {FUSE_ACCESS, on<handle::access>},
    {FUSE_GETLK, on<handle::getlk>},
    {FUSE_SETLK, on<handle::setlk>},
    {FUSE_SETLKW, on<handle::setlk>},
};

}  // namespace

const HandlerTable& operations() { return kOperations; }

}  // namespace nfsrdma::fuse
