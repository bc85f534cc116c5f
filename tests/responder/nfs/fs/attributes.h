// From inodes to attributes (RFC 8881 section 5).
#pragma once

#include "client/proto/attributes.h"
#include "tests/responder/nfs/config.h"
#include "tests/responder/nfs/fs/change_attribute.h"
#include "tests/responder/nfs/fs/file_table.h"

namespace nfsrdma::responder {

/// Attributes that this server knows.
const nfs4::bitmap4& supported_attributes();
/// Attributes that SETATTR and the creating operations can set.
const nfs4::bitmap4& settable_attributes();
/// Attributes that EXCLUSIVE4_1 can set at once: the settable ones without the verifier's.
nfs4::bitmap4 exclusive_create_attributes(const ServiceConfig& config);
/// time_access_set, time_modify_set, mode_set_masked: GETATTR of these is an error.
const nfs4::bitmap4& write_only_attributes();

class AttributeReader {
 public:
  AttributeReader(const ServiceConfig& config, FileTable& files, const ChangeCounters& changes)
      : config_(config), files_(files), changes_(changes) {}

  /// Fills `out` with the wanted attributes of a file; those that are not supported stay absent.
  nfs4::nfsstat4 read(const nfs4::bitmap4& wanted, const FileRef& file, const FileStat& stat,
                      nfs4::Attributes& out) const;
  /// The same for an inode known by what statx says and its handle only: nothing of the file
  /// system as a whole.
  void read_entry(const nfs4::bitmap4& wanted, const FileStat& stat, const nfs4::nfs_fh4& handle,
                  nfs4::Attributes& out) const;

 private:
  nfs4::nfsstat4 read_file_system(const FileRef& file, nfs4::Attributes& out) const;

  const ServiceConfig& config_;
  FileTable& files_;
  const ChangeCounters& changes_;
};

nfs4::nfs_ftype4 type_of_format(std::uint32_t format);

}  // namespace nfsrdma::responder
