// OPEN (RFC 8881 section 18.16), with every claim that this client makes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "client/names/id_map.h"
#include "client/proto/ops_attr.h"
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

/// What a file is opened for. To execute it is another right than to read it, and OPEN has only one
/// word for both: a server grants it to a user who may do either.
struct OpenFor {
  OpenFor() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): most opens are for what they share
  OpenFor(std::uint32_t access, bool executed = false)
      : share_access(access & nfs4::OPEN4_SHARE_ACCESS_BOTH), to_execute(executed) {}
  std::uint32_t share_access = 0;  ///< OPEN4_SHARE_ACCESS_READ, _WRITE or _BOTH
  bool to_execute = false;         ///< by execve(2); share_access is _READ

  bool reads() const { return (share_access & nfs4::OPEN4_SHARE_ACCESS_READ) != 0; }
  /// The ACCESS4_* right that OPEN does not prove; 0: there is none.
  std::uint32_t right() const {
    if (to_execute) return nfs4::ACCESS4_EXECUTE;
    return reads() ? nfs4::ACCESS4_READ : 0;
  }
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
  std::uint32_t rights = 0;  ///< send_open(): the ACCESS4_* bits to ask about; 0: none
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
  /// Of OpenRequest::rights those that the server refuses. Empty when it was not asked, or has put
  /// ACCESS off.
  std::optional<std::uint32_t> refused{};
  /// The first bytes, at least as new as the attributes. Empty when they were not asked for, or
  /// when READ failed; the file is open nevertheless.
  std::optional<ReadData> first{};
};

/// With GETFH, ACCESS and GETATTR.
Task<Result<OpenAnswer>> send_open(RequestContext& context, Credential caller, OpenRequest request);
/// OPEN alone, for a file that is known: claims and recovery.
Task<Result<OpenGranted>> send_claim(RequestContext& context, Credential caller,
                                     OpenRequest request, Sending sending);

}  // namespace nfsrdma::client
