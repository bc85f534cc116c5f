#include "transport/rpc/message.h"

namespace nfsrdma::rpc {
namespace {

constexpr std::uint32_t kAuthErrorDenied = 1;
constexpr std::uint32_t kRpcMismatchDenied = 0;

void encode_auth_none(xdr::Encoder& out) {
  out.u32(static_cast<std::uint32_t>(AuthFlavor::none));
  out.u32(0);
}

void encode_auth_sys(xdr::Encoder& out, const Credential& credential, std::string_view machine) {
  out.u32(static_cast<std::uint32_t>(AuthFlavor::sys));
  const std::size_t length_at = out.placeholder();
  const std::size_t start = out.size();
  out.u32(0);  // stamp: any value
  out.string(machine.substr(0, kMaxMachineName));
  out.u32(credential.uid);
  out.u32(credential.gid);
  out.u32(credential.group_count);
  for (auto group : credential.group_list()) out.u32(group);
  out.patch(length_at, static_cast<std::uint32_t>(out.size() - start));
}

void decode_auth_sys(std::span<const std::byte> body, Credential& credential) {
  xdr::Decoder in(body);
  in.u32("authsys stamp");
  in.string(kMaxMachineName, "authsys machinename");
  credential.uid = in.u32("authsys uid");
  credential.gid = in.u32("authsys gid");
  const auto groups = in.count(kMaxAuthSysGroups, 4, "authsys gids");
  for (std::uint32_t i = 0; i < groups; ++i) credential.groups[i] = in.u32("authsys gid");
  credential.group_count = groups;
  credential.flavor = in.finish("AUTH_SYS") ? AuthFlavor::sys : AuthFlavor::none;
}

Error rpc_error(Fault fault, const char* step) {
  return Error{Layer::rpc, static_cast<int>(fault), step, {}};
}

Result<void> decode_denied(xdr::Decoder& in) {
  const std::uint32_t reason = in.u32("reject_stat");
  TRY(in.status("RPC reply"));
  if (reason == kRpcMismatchDenied) return fail(rpc_error(Fault::rpc_mismatch, "RPC reply"));
  if (reason != kAuthErrorDenied) {
    // Nothing was said about the caller: EACCES would be a guess.
    in.set_fault(xdr::Fault::bad_enum, "reject_stat");
    return in.status("RPC reply");
  }
  Error error = rpc_error(Fault::auth_error, "RPC reply");
  error.detail = "auth_stat " + std::to_string(in.u32("auth_stat"));
  return fail(std::move(error));
}

Fault fault_of(AcceptStat status) {
  switch (status) {
    case AcceptStat::success: return Fault::none;
    case AcceptStat::prog_unavail: return Fault::prog_unavail;
    case AcceptStat::prog_mismatch: return Fault::prog_mismatch;
    case AcceptStat::proc_unavail: return Fault::proc_unavail;
    case AcceptStat::garbage_args: return Fault::garbage_args;
    case AcceptStat::system_err: return Fault::system_err;
  }
  return Fault::undefined_status;
}

}  // namespace

std::string_view fault_name(int fault) {
  static constexpr std::array<std::string_view, 9> names = {
      "no fault",   "PROG_UNAVAIL", "PROG_MISMATCH", "PROC_UNAVAIL",    "GARBAGE_ARGS",
      "SYSTEM_ERR", "RPC_MISMATCH", "AUTH_ERROR",    "undefined status"};
  const auto index = static_cast<std::size_t>(fault);
  return index < names.size() ? names[index] : "unknown fault";
}

void encode_call_header(xdr::Encoder& out, std::uint32_t xid, std::uint32_t program,
                        std::uint32_t version, std::uint32_t procedure,
                        const Credential& credential, std::string_view machine_name) {
  out.u32(xid);
  out.u32(static_cast<std::uint32_t>(MessageType::call));
  out.u32(kRpcVersion);
  out.u32(program);
  out.u32(version);
  out.u32(procedure);
  if (credential.flavor == AuthFlavor::sys) {
    encode_auth_sys(out, credential, machine_name);
  } else {
    encode_auth_none(out);
  }
  encode_auth_none(out);
}

Result<CallHeader> decode_call_header(xdr::Decoder& in) {
  CallHeader header;
  header.xid = in.u32("xid");
  if (in.u32("msg_type") != static_cast<std::uint32_t>(MessageType::call)) {
    in.set_fault(xdr::Fault::unexpected, "msg_type");
  }
  const std::uint32_t rpc_version = in.u32("rpcvers");
  header.program = in.u32("prog");
  header.version = in.u32("vers");
  header.procedure = in.u32("proc");
  header.raw_flavor = static_cast<AuthFlavor>(in.u32("cred flavor"));
  const auto body = in.opaque(kMaxAuthBody, "cred body");
  in.u32("verf flavor");
  in.opaque(kMaxAuthBody, "verf body");
  TRY(in.status("RPC call header"));
  if (rpc_version != kRpcVersion) return fail(rpc_error(Fault::rpc_mismatch, "RPC call header"));
  header.credential.flavor = AuthFlavor::none;
  if (header.raw_flavor == AuthFlavor::sys) decode_auth_sys(body, header.credential);
  return header;
}

void encode_accepted_reply(xdr::Encoder& out, std::uint32_t xid, AcceptStat status) {
  out.u32(xid);
  out.u32(static_cast<std::uint32_t>(MessageType::reply));
  out.u32(static_cast<std::uint32_t>(ReplyStat::accepted));
  encode_auth_none(out);
  out.u32(static_cast<std::uint32_t>(status));
}

void encode_prog_mismatch(xdr::Encoder& out, std::uint32_t xid, std::uint32_t low,
                          std::uint32_t high) {
  encode_accepted_reply(out, xid, AcceptStat::prog_mismatch);
  out.u32(low);
  out.u32(high);
}

void encode_rpc_mismatch(xdr::Encoder& out, std::uint32_t xid) {
  out.u32(xid);
  out.u32(static_cast<std::uint32_t>(MessageType::reply));
  out.u32(static_cast<std::uint32_t>(ReplyStat::denied));
  out.u32(kRpcMismatchDenied);
  out.u32(kRpcVersion);
  out.u32(kRpcVersion);
}

Result<void> decode_reply_header(xdr::Decoder& in, std::uint32_t expected_xid) {
  if (in.u32("xid") != expected_xid) in.set_fault(xdr::Fault::unexpected, "xid");
  if (in.u32("msg_type") != static_cast<std::uint32_t>(MessageType::reply)) {
    in.set_fault(xdr::Fault::unexpected, "msg_type");
  }
  const std::uint32_t reply_stat = in.u32("reply_stat");
  TRY(in.status("RPC reply"));
  if (reply_stat == static_cast<std::uint32_t>(ReplyStat::denied)) return decode_denied(in);
  if (reply_stat != static_cast<std::uint32_t>(ReplyStat::accepted)) {
    in.set_fault(xdr::Fault::bad_enum, "reply_stat");
  }
  in.u32("verf flavor");
  in.opaque(kMaxAuthBody, "verf body");
  const auto status = static_cast<AcceptStat>(in.u32("accept_stat"));
  TRY(in.status("RPC reply"));
  const Fault fault = fault_of(status);
  if (fault != Fault::none) return fail(rpc_error(fault, "RPC reply"));
  return {};
}

}  // namespace nfsrdma::rpc
