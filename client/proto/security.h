// State protection (EXCHANGE_ID) and callback security (CREATE_SESSION, BACKCHANNEL_CTL):
// RFC 8881 sections 18.35, 18.36 and 18.33.
#pragma once

#include "client/proto/types.h"

namespace nfsrdma::nfs4 {

// RPC authentication flavours. Not the RFC's spelling: <rpc/auth.h> has macros of those names.
inline constexpr std::uint32_t kAuthNone = 0;
inline constexpr std::uint32_t kAuthSys = 1;
inline constexpr std::uint32_t kRpcsecGss = 6;

inline constexpr std::size_t kMaxSecParms = 16;      ///< callback_sec_parms4 in one request
inline constexpr std::size_t kMaxMachineName = 255;  ///< RFC 5531 appendix A
inline constexpr std::size_t kMaxGids = 16;          ///< RFC 5531 appendix A
inline constexpr std::size_t kMaxAlgorithms = 64;    ///< object identifiers in one list

/// One element of an array of opaque<>: an object identifier or a GSS context handle.
struct OpaqueElement {
  std::span<const std::byte> value;

  static constexpr std::size_t kMaxEncoded = xdr::kUnit + NFS4_OPAQUE_LIMIT;
  std::span<const std::byte> bytes() const { return value; }
  void encode_to(xdr::Encoder& out) const { out.opaque(value); }
  void decode_from(xdr::Decoder& in, const char* name) {
    value = in.opaque(NFS4_OPAQUE_LIMIT, name);
  }
};
using sec_oid4 = OpaqueElement;
using gsshandle4_t = OpaqueElement;

enum state_protect_how4 : std::uint32_t { SP4_NONE = 0, SP4_MACH_CRED = 1, SP4_SSV = 2 };
constexpr bool is_defined(state_protect_how4 how) { return how <= SP4_SSV; }

struct state_protect_ops4 {
  bitmap4 spo_must_enforce;
  bitmap4 spo_must_allow;

  static void fields(auto& self, auto& visit) {
    visit("spo_must_enforce", self.spo_must_enforce);
    visit("spo_must_allow", self.spo_must_allow);
  }
};

struct ssv_sp_parms4 {
  state_protect_ops4 ssp_ops;
  std::vector<sec_oid4> ssp_hash_algs;
  std::vector<sec_oid4> ssp_encr_algs;
  std::uint32_t ssp_window = 0;
  std::uint32_t ssp_num_gss_handles = 0;

  static void fields(auto& self, auto& visit) {
    visit("ssp_ops", self.ssp_ops);
    visit("ssp_hash_algs", self.ssp_hash_algs, kMaxAlgorithms);
    visit("ssp_encr_algs", self.ssp_encr_algs, kMaxAlgorithms);
    visit("ssp_window", self.ssp_window);
    visit("ssp_num_gss_handles", self.ssp_num_gss_handles);
  }
};

struct state_protect4_a {
  state_protect_how4 spa_how = SP4_NONE;
  state_protect_ops4 spa_mach_ops;  ///< SP4_MACH_CRED
  ssv_sp_parms4 spa_ssv_parms;      ///< SP4_SSV

  static void fields(auto& self, auto& visit) {
    visit.choose("spa_how", self.spa_how, no_arm(SP4_NONE),
                 arm(SP4_MACH_CRED, "spa_mach_ops", self.spa_mach_ops),
                 arm(SP4_SSV, "spa_ssv_parms", self.spa_ssv_parms));
  }
};

struct ssv_prot_info4 {
  state_protect_ops4 spi_ops;
  std::uint32_t spi_hash_alg = 0;
  std::uint32_t spi_encr_alg = 0;
  std::uint32_t spi_ssv_len = 0;
  std::uint32_t spi_window = 0;
  std::vector<gsshandle4_t> spi_handles;

  static void fields(auto& self, auto& visit) {
    visit("spi_ops", self.spi_ops);
    visit("spi_hash_alg", self.spi_hash_alg);
    visit("spi_encr_alg", self.spi_encr_alg);
    visit("spi_ssv_len", self.spi_ssv_len);
    visit("spi_window", self.spi_window);
    visit("spi_handles", self.spi_handles, kMaxArray);
  }
};

struct state_protect4_r {
  state_protect_how4 spr_how = SP4_NONE;
  state_protect_ops4 spr_mach_ops;  ///< SP4_MACH_CRED
  ssv_prot_info4 spr_ssv_info;      ///< SP4_SSV

  static void fields(auto& self, auto& visit) {
    visit.choose("spr_how", self.spr_how, no_arm(SP4_NONE),
                 arm(SP4_MACH_CRED, "spr_mach_ops", self.spr_mach_ops),
                 arm(SP4_SSV, "spr_ssv_info", self.spr_ssv_info));
  }
};

/// The AUTH_SYS credential of RFC 5531 appendix A.
struct authsys_parms {
  std::uint32_t stamp = 0;
  std::string_view machinename;
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::vector<std::uint32_t> gids;

  static void fields(auto& self, auto& visit) {
    visit("stamp", self.stamp);
    visit("machinename", self.machinename, kMaxMachineName);
    visit("uid", self.uid);
    visit("gid", self.gid);
    visit("gids", self.gids, kMaxGids);
  }
};

enum rpc_gss_svc_t : std::uint32_t {
  RPC_GSS_SVC_NONE = 1,
  RPC_GSS_SVC_INTEGRITY = 2,
  RPC_GSS_SVC_PRIVACY = 3,
};
constexpr bool is_defined(rpc_gss_svc_t service) {
  return service >= RPC_GSS_SVC_NONE && service <= RPC_GSS_SVC_PRIVACY;
}

struct gss_cb_handles4 {
  rpc_gss_svc_t gcbp_service = RPC_GSS_SVC_NONE;
  gsshandle4_t gcbp_handle_from_server;
  gsshandle4_t gcbp_handle_from_client;

  static void fields(auto& self, auto& visit) {
    visit("gcbp_service", self.gcbp_service);
    visit("gcbp_handle_from_server", self.gcbp_handle_from_server);
    visit("gcbp_handle_from_client", self.gcbp_handle_from_client);
  }
};

struct callback_sec_parms4 {
  std::uint32_t cb_secflavor = kAuthNone;
  authsys_parms cbsp_sys_cred;       ///< kAuthSys
  gss_cb_handles4 cbsp_gss_handles;  ///< kRpcsecGss

  static void fields(auto& self, auto& visit) {
    visit.choose("cb_secflavor", self.cb_secflavor, no_arm(kAuthNone),
                 arm(kAuthSys, "cbsp_sys_cred", self.cbsp_sys_cred),
                 arm(kRpcsecGss, "cbsp_gss_handles", self.cbsp_gss_handles));
  }
};

}  // namespace nfsrdma::nfs4
