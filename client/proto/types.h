// NFSv4.1 basic types (RFC 8881 section 3, RFC 5662), spelled as the RFCs spell them.
//
// Strings and opaque<> are views: into the message after decoding, into the caller's memory for
// encoding. Fixed-size things (file handles, stateids, bitmaps) are owned values.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "client/proto/codec.h"
#include "client/proto/opnum.h"
#include "client/proto/status.h"

namespace nfsrdma::nfs4 {

using xdr::Payload;

inline constexpr std::size_t NFS4_FHSIZE = 128;
inline constexpr std::size_t NFS4_VERIFIER_SIZE = 8;
inline constexpr std::size_t NFS4_OPAQUE_LIMIT = 1024;
inline constexpr std::size_t NFS4_SESSIONID_SIZE = 16;
inline constexpr std::size_t NFS4_OTHER_SIZE = 12;
inline constexpr std::uint64_t NFS4_UINT64_MAX = UINT64_MAX;

// Bounds of this implementation where the RFC has none.
inline constexpr std::size_t kMaxComponent = 4096;      ///< bytes of one name
inline constexpr std::size_t kMaxText = 4096;           ///< bytes of tags, owners, other strings
inline constexpr std::size_t kMaxLinkText = 64 * 1024;  ///< bytes of a symbolic link
inline constexpr std::size_t kMaxAttributes = 1 << 20;  ///< bytes of one fattr4's values
inline constexpr std::size_t kMaxArray = 4096;          ///< elements of one array<>
inline constexpr std::size_t kMaxData = 1 << 30;        ///< bytes of one READ or WRITE

using verifier4 = std::array<std::byte, NFS4_VERIFIER_SIZE>;
using sessionid4 = std::array<std::byte, NFS4_SESSIONID_SIZE>;
using changeid4 = std::uint64_t;
using clientid4 = std::uint64_t;
using count4 = std::uint32_t;
using length4 = std::uint64_t;
using mode4 = std::uint32_t;
using nfs_cookie4 = std::uint64_t;
using offset4 = std::uint64_t;
using qop4 = std::uint32_t;
using seqid4 = std::uint32_t;
using sequenceid4 = std::uint32_t;
using slotid4 = std::uint32_t;
using component4 = std::string_view;

enum nfs_ftype4 : std::uint32_t {
  NF4REG = 1,
  NF4DIR = 2,
  NF4BLK = 3,
  NF4CHR = 4,
  NF4LNK = 5,
  NF4SOCK = 6,
  NF4FIFO = 7,
  NF4ATTRDIR = 8,
  NF4NAMEDATTR = 9,
};
constexpr bool is_defined(nfs_ftype4 type) { return type >= NF4REG && type <= NF4NAMEDATTR; }

/// A file handle: up to 128 bytes whose meaning only the server knows.
struct nfs_fh4 {
  std::uint32_t length = 0;
  std::array<std::byte, NFS4_FHSIZE> data{};

  static constexpr std::size_t kMaxEncoded = xdr::kUnit + NFS4_FHSIZE;
  std::span<const std::byte> bytes() const { return {data.data(), length}; }
  /// False, and no change, when there are more than NFS4_FHSIZE bytes.
  bool assign(std::span<const std::byte> bytes) {
    if (bytes.size() > data.size()) return false;
    length = static_cast<std::uint32_t>(bytes.size());
    std::copy(bytes.begin(), bytes.end(), data.begin());
    return true;
  }
  friend bool operator==(const nfs_fh4& a, const nfs_fh4& b) {
    return std::ranges::equal(a.bytes(), b.bytes());
  }

  void encode_to(xdr::Encoder& out) const { out.opaque(bytes()); }
  void decode_from(xdr::Decoder& in, const char* name) { assign(in.opaque(NFS4_FHSIZE, name)); }
};

/// A set of bit numbers, mostly of attributes. Encoded without trailing zero words.
struct bitmap4 {
  static constexpr std::size_t kWords = 3;
  static constexpr std::uint32_t kBits = 32 * kWords;
  static constexpr std::size_t kMaxEncoded = xdr::kUnit * (1 + kWords);
  std::array<std::uint32_t, kWords> words{};

  constexpr bitmap4() = default;
  /// `bitmap4{FATTR4_SIZE, FATTR4_MODE}`
  constexpr bitmap4(std::initializer_list<std::uint32_t> bits) {
    for (std::uint32_t bit : bits) set(bit);
  }

  constexpr void set(std::uint32_t bit) { words[bit / 32] |= 1U << bit % 32; }
  constexpr void clear(std::uint32_t bit) { words[bit / 32] &= ~(1U << bit % 32); }
  constexpr bool test(std::uint32_t bit) const {
    return bit < kBits && (words[bit / 32] >> bit % 32 & 1U) != 0;
  }
  constexpr bool empty() const { return words == decltype(words){}; }
  friend constexpr bool operator==(const bitmap4&, const bitmap4&) = default;
  friend constexpr bitmap4 operator&(bitmap4 a, const bitmap4& b) {
    for (std::size_t i = 0; i < kWords; ++i) a.words[i] &= b.words[i];
    return a;
  }
  friend constexpr bitmap4 operator|(bitmap4 a, const bitmap4& b) {
    for (std::size_t i = 0; i < kWords; ++i) a.words[i] |= b.words[i];
    return a;
  }
  /// The bits of `a` that are not in `b`.
  friend constexpr bitmap4 operator-(bitmap4 a, const bitmap4& b) {
    for (std::size_t i = 0; i < kWords; ++i) a.words[i] &= ~b.words[i];
    return a;
  }

  void encode_to(xdr::Encoder& out) const;
  /// A bit beyond kBits is a fault: nothing of NFSv4.1 is there.
  void decode_from(xdr::Decoder& in, const char* name);
};

struct stateid4 {
  std::uint32_t seqid = 0;
  std::array<std::byte, NFS4_OTHER_SIZE> other{};

  friend constexpr bool operator==(const stateid4&, const stateid4&) = default;
  static void fields(auto& self, auto& visit) {
    visit("seqid", self.seqid);
    visit("other", self.other);
  }
};

/// The special stateids of RFC 8881 section 8.2.3.
inline constexpr stateid4 kAnonymousStateid{};
/// "The stateid that the previous operation of this COMPOUND produced."
inline constexpr stateid4 kCurrentStateid{1, {}};

struct nfstime4 {
  std::int64_t seconds = 0;
  std::uint32_t nseconds = 0;  ///< below 10^9

  friend constexpr auto operator<=>(const nfstime4&, const nfstime4&) = default;
  static void fields(auto& self, auto& visit) {
    visit("seconds", self.seconds);
    visit("nseconds", self.nseconds);
  }
};

enum time_how4 : std::uint32_t { SET_TO_SERVER_TIME4 = 0, SET_TO_CLIENT_TIME4 = 1 };
constexpr bool is_defined(time_how4 how) { return how <= SET_TO_CLIENT_TIME4; }

struct settime4 {
  time_how4 set_it = SET_TO_SERVER_TIME4;
  nfstime4 time;  ///< SET_TO_CLIENT_TIME4

  static void fields(auto& self, auto& visit) {
    visit.choose("set_it", self.set_it, arm(SET_TO_CLIENT_TIME4, "time", self.time), otherwise());
  }
};

struct fsid4 {
  std::uint64_t major = 0;
  std::uint64_t minor = 0;

  friend constexpr bool operator==(const fsid4&, const fsid4&) = default;
  static void fields(auto& self, auto& visit) {
    visit("major", self.major);
    visit("minor", self.minor);
  }
};

struct specdata4 {
  std::uint32_t specdata1 = 0;  ///< major device number
  std::uint32_t specdata2 = 0;  ///< minor device number

  friend constexpr bool operator==(const specdata4&, const specdata4&) = default;
  static void fields(auto& self, auto& visit) {
    visit("specdata1", self.specdata1);
    visit("specdata2", self.specdata2);
  }
};

struct change_info4 {
  bool atomic = false;
  changeid4 before = 0;
  changeid4 after = 0;

  static void fields(auto& self, auto& visit) {
    visit("atomic", self.atomic);
    visit("before", self.before);
    visit("after", self.after);
  }
};

/// Attributes as they travel: which ones, and their values in ascending order in an opaque<>.
/// client/proto/attributes.h has them decoded.
struct fattr4 {
  bitmap4 attrmask;
  std::span<const std::byte> attr_vals;

  static void fields(auto& self, auto& visit) {
    visit("attrmask", self.attrmask);
    visit("attr_vals", self.attr_vals, kMaxAttributes);
  }
};

struct state_owner4 {
  clientid4 clientid = 0;
  std::span<const std::byte> owner;

  static void fields(auto& self, auto& visit) {
    visit("clientid", self.clientid);
    visit("owner", self.owner, NFS4_OPAQUE_LIMIT);
  }
};
using open_owner4 = state_owner4;
using lock_owner4 = state_owner4;

/// One entry of an access control list.
struct nfsace4 {
  std::uint32_t type = 0;
  std::uint32_t flag = 0;
  std::uint32_t access_mask = 0;
  std::string_view who;

  static void fields(auto& self, auto& visit) {
    visit("type", self.type);
    visit("flag", self.flag);
    visit("access_mask", self.access_mask);
    visit("who", self.who, kMaxText);
  }
};

/// Arguments of an operation that has none.
template <auto Opnum>
struct EmptyArgs {
  static constexpr auto opnum = Opnum;

  static void fields(auto&, auto&) {}
};

/// A result that is a status and nothing else.
template <auto Opnum>
struct StatusOnly {
  static constexpr auto opnum = Opnum;
  nfsstat4 status = NFS4_OK;

  static void fields(auto& self, auto& visit) { visit("status", self.status); }
};

/// A result that has more to say when it is NFS4_OK.
template <auto Opnum, class Ok>
struct StatusOr {
  static constexpr auto opnum = Opnum;
  nfsstat4 status = NFS4_OK;
  Ok resok4;

  static void fields(auto& self, auto& visit) {
    visit.choose("status", self.status, arm(NFS4_OK, "resok4", self.resok4), otherwise());
  }
};

}  // namespace nfsrdma::nfs4
