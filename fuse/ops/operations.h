// The FUSE operations of an NFS mount, each in the file of its name. Its parameters are the inode,
// the open file or the open directory that the kernel names, and its arguments. A Task runs until
// it waits; then the dispatcher goes on.
#pragma once

#include "cache/file/directory.h"
#include "fuse/channel/handler_table.h"
#include "fuse/kernel/file.h"
#include "transport/base/task.h"

namespace nfsrdma::fuse {

class FileSystem;

/// For KernelSession, which serves a FileSystem. There are no operations for extended attributes.
const HandlerTable& operations();

namespace handle {

Task<void> lookup(FileSystem&, Request, InodeRef parent, NameArguments);
void forget(FileSystem&, Request, ForgetArguments);
void getattr(FileSystem&, Request, InodeRef, fuse_getattr_in);
Task<void> setattr(FileSystem&, Request, InodeRef, fuse_setattr_in);
Task<void> readlink(FileSystem&, Request, InodeRef, NoArguments);
Task<void> mknod(FileSystem&, Request, InodeRef parent, MknodArguments);
Task<void> mkdir(FileSystem&, Request, InodeRef parent, MkdirArguments);
Task<void> unlink(FileSystem&, Request, InodeRef parent, NameArguments);
Task<void> rmdir(FileSystem&, Request, InodeRef parent, NameArguments);
Task<void> symlink(FileSystem&, Request, InodeRef parent, SymlinkArguments);
Task<void> rename(FileSystem&, Request, InodeRef parent, RenameArguments);
Task<void> link(FileSystem&, Request, InodeRef new_parent, LinkArguments);
void open(FileSystem&, Request, InodeRef, fuse_open_in);
Task<void> create(FileSystem&, Request, InodeRef parent, CreateArguments);
Task<void> read(FileSystem&, Request, FileRef, ReadArguments);
void write(FileSystem&, Request, FileRef, WriteArguments);
void flush(FileSystem&, Request, FileRef, fuse_flush_in);
void fsync(FileSystem&, Request, FileRef, fuse_fsync_in);
void release(FileSystem&, Request, fuse_release_in);
Task<void> opendir(FileSystem&, Request, InodeRef, fuse_open_in);
void readdir(FileSystem&, Request, cache::DirectoryRef, ReadArguments);
void releasedir(FileSystem&, Request, fuse_release_in);
void fsyncdir(FileSystem&, Request, fuse_fsync_in);
Task<void> statfs(FileSystem&, Request, InodeRef, NoArguments);
Task<void> access(FileSystem&, Request, InodeRef, fuse_access_in);
Task<void> getlk(FileSystem&, Request, FileRef, fuse_lk_in);
void setlk(FileSystem&, Request, FileRef, fuse_lk_in);

}  // namespace handle
}  // namespace nfsrdma::fuse
