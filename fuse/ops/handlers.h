// The functions libfuse calls, one for each operation; each is in the file of its name. They start
// a coroutine and return. Names and other pointers are libfuse's and valid until then.
#pragma once

#include <fuse_lowlevel.h>

#include <cstddef>
#include <cstdint>

namespace nfsrdma::fuse::handle {

void lookup(fuse_req_t, fuse_ino_t parent, const char* name);
void forget(fuse_req_t, fuse_ino_t inode, std::uint64_t count);
void forget_multi(fuse_req_t, std::size_t count, fuse_forget_data* forgets);
void getattr(fuse_req_t, fuse_ino_t inode, fuse_file_info*);
void setattr(fuse_req_t, fuse_ino_t inode, struct stat* values, int valid, fuse_file_info*);
void readlink(fuse_req_t, fuse_ino_t inode);
void mknod(fuse_req_t, fuse_ino_t parent, const char* name, mode_t, dev_t);
void mkdir(fuse_req_t, fuse_ino_t parent, const char* name, mode_t);
void unlink(fuse_req_t, fuse_ino_t parent, const char* name);
void rmdir(fuse_req_t, fuse_ino_t parent, const char* name);
void symlink(fuse_req_t, const char* target, fuse_ino_t parent, const char* name);
void rename(fuse_req_t, fuse_ino_t parent, const char* name, fuse_ino_t new_parent,
            const char* new_name, unsigned flags);
void link(fuse_req_t, fuse_ino_t inode, fuse_ino_t new_parent, const char* new_name);
void open(fuse_req_t, fuse_ino_t inode, fuse_file_info*);
void create(fuse_req_t, fuse_ino_t parent, const char* name, mode_t, fuse_file_info*);
void read(fuse_req_t, fuse_ino_t inode, std::size_t size, off_t offset, fuse_file_info*);
void write(fuse_req_t, fuse_ino_t inode, const char* data, std::size_t size, off_t offset,
           fuse_file_info*);
void flush(fuse_req_t, fuse_ino_t inode, fuse_file_info*);
void fsync(fuse_req_t, fuse_ino_t inode, int data_only, fuse_file_info*);
void release(fuse_req_t, fuse_ino_t inode, fuse_file_info*);
void opendir(fuse_req_t, fuse_ino_t inode, fuse_file_info*);
void readdir(fuse_req_t, fuse_ino_t inode, std::size_t size, off_t offset, fuse_file_info*);
void readdirplus(fuse_req_t, fuse_ino_t inode, std::size_t size, off_t offset, fuse_file_info*);
void releasedir(fuse_req_t, fuse_ino_t inode, fuse_file_info*);
void fsyncdir(fuse_req_t, fuse_ino_t inode, int data_only, fuse_file_info*);
void statfs(fuse_req_t, fuse_ino_t inode);
void access(fuse_req_t, fuse_ino_t inode, int mask);
void getlk(fuse_req_t, fuse_ino_t inode, fuse_file_info*, struct ::flock* lock);
void setlk(fuse_req_t, fuse_ino_t inode, fuse_file_info*, struct ::flock* lock, int wait);
void flock(fuse_req_t, fuse_ino_t inode, fuse_file_info*, int operation);

}  // namespace nfsrdma::fuse::handle
