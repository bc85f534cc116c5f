// OPEN (RFC 8881 section 18.16), with every claim that this client makes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "client/names/id_map.h"
#include "client/proto/ops_open.h"
#include "client/requests/read.h"
#include "client/requests/sending.h"

namespace nfsrdma::client {

/// The open-owner of a user: one for each uid of the mount.
struct OpenOwner {
  explicit OpenOwner(std::uint32_t uid);
  std::span<const std::byte> bytes() const { return text; }
  std::array<std::byte, 16> text{};
};

/// How a file that is not there is made.
struct NewFile {
  nfs4::createmode4 mode = nfs4::UNCHECKED4;
  Attributes attributes;
  nfs4::bitmap4 in_open;  ///< those of them that OPEN itself sets
};

/// A name of a file, and how the file is recognised there.
struct NameOfFile {
  FileHandle directory;
  std::string_view name;
  std::uint64_t fileid = 0;
};

/// Nothing is denied to others. Views are valid until the answer.
struct OpenRequest {
  FileHandle object;               ///< the file; with CLAIM_NULL its directory
  std::uint32_t share_access = 0;  ///< OPEN4_SHARE_ACCESS_READ, _WRITE or _BOTH
  std::uint32_t want = nfs4::OPEN4_SHARE_ACCESS_WANT_NO_DELEG;
  nfs4::open_claim_type4 claim = nfs4::CLAIM_FH;
  std::string_view name;              ///< CLAIM_NULL
  const NewFile* new_file = nullptr;  ///< CLAIM_NULL; null: the file must be there
  nfs4::stateid4 delegation;          ///< CLAIM_DELEG_CUR_FH
  nfs4::open_delegation_type4 delegate_type = nfs4::OPEN_DELEGATE_NONE;  ///< CLAIM_PREVIOUS
  /// send_open() with CLAIM_FH: ESTALE, and nothing is opened, unless this name leads to the file.
  std::optional<NameOfFile> by;
  ReadSink first;  ///< send_open(): the first bytes of the file are read to there; empty: none are
};

/// A delegation that came with an OPEN.
struct GrantedDelegation {
  nfs4::stateid4 stateid;
  bool writes = false;  ///< OPEN_DELEGATE_WRITE
  bool recall = false;  ///< granted and asked back at once
};

struct OpenGranted {
  nfs4::stateid4 stateid;
  std::uint32_t rflags = 0;
  nfs4::bitmap4 attrset;
  nfs4::change_info4 directory;  ///< of the directory that a name was made in
  std::optional<GrantedDelegation> delegation;
};

/// The result of OPEN: the handle is certain, the attributes may have to be fetched (or_fetch).
struct OpenAnswer {
  OpenGranted granted;
  FileHandle handle;
  Result<Attributes> attributes;
  OwnerNames names;
  /// The first bytes, at least as new as the attributes. Empty when they were not asked for, or
  /// when READ failed; the file is open nevertheless.
  std::optional<ReadData> first{};
};

/// With GETFH and GETATTR.
Task<Result<OpenAnswer>> send_open(RequestContext& context, Credential caller, OpenRequest request);
/// OPEN alone, for a file that is known: claims and recovery.
Task<Result<OpenGranted>> send_claim(RequestContext& context, Credential caller,
                                     OpenRequest request, Sending sending);

}  // namespace nfsrdma::client
