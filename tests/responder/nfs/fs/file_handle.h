// The bytes of a file handle.
//
// A handle names an inode. Where the kernel can open an inode by handle (root, most file systems)
// the kernel's handle is inside, signed, so that it outlives this process and cannot be forged to
// reach files that are not exported. Elsewhere the handle has the inode's number, signed too, and
// FileTable finds that in the tree.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "client/proto/types.h"
#include "tests/responder/nfs/fs/file_stat.h"
#include "tests/responder/nfs/fs/siphash.h"

namespace nfsrdma::responder {

/// The result of name_to_handle_at(2).
struct KernelHandle {
  std::int32_t type = 0;
  std::uint32_t size = 0;
  std::array<std::byte, nfs4::NFS4_FHSIZE> data;

  std::span<const std::byte> bytes() const { return {data.data(), size}; }
};

/// Of `name` in `directory`, or of the directory descriptor itself when name is "". Empty when the
/// file system has no handles or one is too long for NFS.
std::optional<KernelHandle> kernel_handle_of(int directory, const char* name);

/// An O_PATH descriptor of a handle's inode; `mount` is an open directory of its file system.
Outcome<int> open_kernel_handle(int mount, const KernelHandle& handle);

struct ParsedHandle {
  InodeKey key;  ///< device as it was given to seal
  std::optional<KernelHandle> kernel;
};

/// Makes and reads handles.
class HandleCodec {
 public:
  /// `key_text` as ServiceConfig::handle_key.
  explicit HandleCodec(const std::string& key_text);

  nfs4::nfs_fh4 seal(const InodeKey& key, const KernelHandle* kernel) const;
  /// BADHANDLE when the handle is not one this server made, STALE when an earlier process may have,
  /// with another key.
  Outcome<ParsedHandle> open(const nfs4::nfs_fh4& handle) const;

 private:
  SipKey key_;
};

}  // namespace nfsrdma::responder
