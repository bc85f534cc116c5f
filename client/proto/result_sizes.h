// Upper bounds of results in bytes, without operation number and status, for the rows of
// operations.def. Their sum decides whether the server must be given a Reply chunk (V1-4.3.3-1,
// RFC 8267 section 6.2).
#pragma once

#include <cstddef>

#include "client/proto/types.h"

namespace nfsrdma::nfs4::result_size {

inline constexpr std::size_t kWord = 4;
inline constexpr std::size_t kNothing = 0;
inline constexpr std::size_t kHandle = kWord + NFS4_FHSIZE;
inline constexpr std::size_t kStateid = kWord + NFS4_OTHER_SIZE;
inline constexpr std::size_t kVerifier = NFS4_VERIFIER_SIZE;
inline constexpr std::size_t kBitmap = kWord + kWord * bitmap4::kWords;
inline constexpr std::size_t kChangeInfo = 5 * kWord;
inline constexpr std::size_t kOpaqueLimit = kWord + NFS4_OPAQUE_LIMIT;

inline constexpr std::size_t kAccess = 2 * kWord;
inline constexpr std::size_t kSequence = NFS4_SESSIONID_SIZE + 5 * kWord;
inline constexpr std::size_t kChannelAttributes = 8 * kWord;
inline constexpr std::size_t kCreateSession =
    NFS4_SESSIONID_SIZE + 2 * kWord + 2 * kChannelAttributes;
inline constexpr std::size_t kBindConnection = NFS4_SESSIONID_SIZE + 2 * kWord;
/// Client id, sequence, flags, SP4_NONE; server owner and scope; implementation id with two texts.
inline constexpr std::size_t kExchangeId =
    5 * kWord + 2 * kWord + 2 * kOpaqueLimit + 4 * kWord + 2 * kOpaqueLimit;

/// Of a lock in the way: range, type and owner.
inline constexpr std::size_t kLock = 5 * kWord + 2 * kWord + kOpaqueLimit;

/// Without the bytes of the data: they are DDP-eligible.
inline constexpr std::size_t kRead = 2 * kWord;
inline constexpr std::size_t kWrite = 2 * kWord + kVerifier;

/// Linux allows no longer link text.
inline constexpr std::size_t kLinkText = 4096;
inline constexpr std::size_t kReadLink = kWord + kLinkText;

/// An owner or group that is longer does not fit the bound; servers end names at 128 or less.
inline constexpr std::size_t kOwner = kWord + 256;

/// With a delegation that was not asked for: its stateid, limit and one access control entry.
inline constexpr std::size_t kDelegation =
    kWord + kStateid + kWord + 3 * kWord + 3 * kWord + kOwner;
inline constexpr std::size_t kOpen = kStateid + kChangeInfo + kWord + kBitmap + kDelegation;
/// A handful of flavours, each with an object identifier.
inline constexpr std::size_t kSecInfo = 512;

}  // namespace nfsrdma::nfs4::result_size
