// A FUSE file system that answers from memory: one directory of regular files. It stands in for
// fuse::FileSystem in the tests of the session, and is the floor that benchmarks compare with.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fuse/channel/handler_table.h"

namespace nfsrdma::testing {

struct MemoryFile {
  std::string name;
  std::vector<std::byte> content;
};

/// Give its handlers() and its address to fuse::KernelSession. Belongs to the session's thread. A
/// file's number is its place in files() plus kFirstFile.
class MemoryFileSystem {
 public:
  static constexpr std::uint64_t kFirstFile = FUSE_ROOT_ID + 1;

  /// With `keep_writes` false a WRITE only moves the end of the file.
  explicit MemoryFileSystem(bool keep_writes = true) : keep_writes_(keep_writes) {}

  static const fuse::HandlerTable& handlers();
  static void on_read(MemoryFileSystem&, fuse::Request, fuse::ReadArguments);
  static void on_write(MemoryFileSystem&, fuse::Request, fuse::WriteArguments);

  MemoryFile& add(std::string name, std::size_t size);
  /// Null when there is none.
  MemoryFile* find(std::string_view name);
  MemoryFile* find(std::uint64_t number);
  std::uint64_t number_of(const MemoryFile& file) const;
  struct stat attributes(std::uint64_t number) const;
  void write(MemoryFile& file, std::size_t offset, std::span<const std::byte> data);
  std::vector<MemoryFile>& files() { return files_; }

 private:
  bool keep_writes_;
  std::vector<MemoryFile> files_;
};

}  // namespace nfsrdma::testing
