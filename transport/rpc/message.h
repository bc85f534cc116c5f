// ONC RPC message headers (RFC 5531) and their AUTH_NONE and AUTH_SYS credentials.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "transport/xdr/decoder.h"
#include "transport/xdr/encoder.h"

namespace nfsrdma::rpc {

inline constexpr std::uint32_t kRpcVersion = 2;
inline constexpr std::uint32_t kNfsProgram = 100003;
inline constexpr std::uint32_t kNfsVersion4 = 4;

enum class MessageType : std::uint32_t { call = 0, reply = 1 };
enum class ReplyStat : std::uint32_t { accepted = 0, denied = 1 };
enum class AcceptStat : std::uint32_t {
  success = 0,
  prog_unavail = 1,
  prog_mismatch = 2,
  proc_unavail = 3,
  garbage_args = 4,
  system_err = 5,
};
enum class AuthFlavor : std::uint32_t { none = 0, sys = 1, rpcsec_gss = 6 };

/// Error::code values of Layer::rpc.
enum class Fault : int {
  none,
  prog_unavail,
  prog_mismatch,
  proc_unavail,
  garbage_args,
  system_err,
  rpc_mismatch,
  auth_error,
  undefined_status,
};
std::string_view fault_name(int fault);

inline constexpr std::size_t kMaxAuthBody = 400;
inline constexpr std::size_t kMaxMachineName = 255;
inline constexpr std::size_t kMaxAuthSysGroups = 16;

/// On whose behalf a call is made.
struct Credential {
  AuthFlavor flavor = AuthFlavor::sys;
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::array<std::uint32_t, kMaxAuthSysGroups> groups{};
  std::uint32_t group_count = 0;

  std::span<const std::uint32_t> group_list() const { return {groups.data(), group_count}; }
};

struct CallHeader {
  std::uint32_t xid = 0;
  std::uint32_t program = 0;
  std::uint32_t version = 0;
  std::uint32_t procedure = 0;
  Credential credential;  ///< flavor none when the message had a flavor this side cannot read
  AuthFlavor raw_flavor = AuthFlavor::none;
};

/// Encodes header, credential and an AUTH_NONE verifier. `machine_name` goes into AUTH_SYS.
void encode_call_header(xdr::Encoder& out, std::uint32_t xid, std::uint32_t program,
                        std::uint32_t version, std::uint32_t procedure,
                        const Credential& credential, std::string_view machine_name);

/// Decodes a call's header up to its arguments. A wrong RPC version is Error{rpc, rpc_mismatch}.
Result<CallHeader> decode_call_header(xdr::Decoder& in);

/// Bytes of an accepted reply's header with an AUTH_NONE verifier.
inline constexpr std::size_t kAcceptedReplyHeader = 24;
void encode_accepted_reply(xdr::Encoder& out, std::uint32_t xid, AcceptStat status);
/// PROG_MISMATCH with its range.
void encode_prog_mismatch(xdr::Encoder& out, std::uint32_t xid, std::uint32_t low,
                          std::uint32_t high);
/// MSG_DENIED, RPC_MISMATCH (2, 2).
void encode_rpc_mismatch(xdr::Encoder& out, std::uint32_t xid);

/// Decodes a reply's header up to its results; any status but SUCCESS is an Error of Layer::rpc.
Result<void> decode_reply_header(xdr::Decoder& in, std::uint32_t expected_xid);

}  // namespace nfsrdma::rpc
