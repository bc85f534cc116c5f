#include "fuse/ops/ops.h"

#include "fuse/ops/handlers.h"

namespace nfsrdma::fuse {

const fuse_lowlevel_ops& operations() {
  static const fuse_lowlevel_ops table = [] {
    fuse_lowlevel_ops ops{};
    ops.lookup = handle::lookup;
    ops.forget = handle::forget;
    ops.forget_multi = handle::forget_multi;
    ops.getattr = handle::getattr;
    ops.setattr = handle::setattr;
    ops.readlink = handle::readlink;
    ops.mknod = handle::mknod;
    ops.mkdir = handle::mkdir;
    ops.unlink = handle::unlink;
    ops.rmdir = handle::rmdir;
    ops.symlink = handle::symlink;
    ops.rename = handle::rename;
    ops.link = handle::link;
    ops.open = handle::open;
    ops.create = handle::create;
    ops.read = handle::read;
    ops.write = handle::write;
    ops.flush = handle::flush;
    ops.fsync = handle::fsync;
    ops.release = handle::release;
    ops.opendir = handle::opendir;
    ops.readdir = handle::readdir;
    ops.readdirplus = handle::readdirplus;
    ops.releasedir = handle::releasedir;
    ops.fsyncdir = handle::fsyncdir;
    ops.statfs = handle::statfs;
    ops.access = handle::access;
    ops.getlk = handle::getlk;
    ops.setlk = handle::setlk;
    ops.flock = handle::flock;
    return ops;
  }();
  return table;
}

}  // namespace nfsrdma::fuse
