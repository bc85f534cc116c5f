// A FUSE file system that answers from memory: one directory of regular files. It stands in for
// fuse::FileSystem in the tests of the session, and is the floor that benchmarks compare with.
#pragma once

#include <fuse_lowlevel.h>

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace nfsrdma::testing {

struct MemoryFile {
  std::string name;
  std::vector<std::byte> content;
};

/// Give its operations() and its address to fuse::KernelSession. Belongs to the session's thread. A
/// file's number is its place in files() plus kFirstFile.
class MemoryFileSystem {
 public:
  static constexpr fuse_ino_t kFirstFile = FUSE_ROOT_ID + 1;

  /// With `keep_writes` false a WRITE only moves the end of the file.
  explicit MemoryFileSystem(bool keep_writes = true) : keep_writes_(keep_writes) {}

  static const fuse_lowlevel_ops& operations();

  MemoryFile& add(std::string name, std::size_t size);
  /// Null when there is none.
  MemoryFile* find(std::string_view name);
  MemoryFile* find(fuse_ino_t number);
  fuse_ino_t number_of(const MemoryFile& file) const;
  struct stat attributes(fuse_ino_t number) const;
  void write(MemoryFile& file, std::size_t offset, const char* data, std::size_t size);
  std::vector<MemoryFile>& files() { return files_; }

 private:
  bool keep_writes_;
  std::vector<MemoryFile> files_;
};

}  // namespace nfsrdma::testing
