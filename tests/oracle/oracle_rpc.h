/* RPC message headers as libtirpc encodes them. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct oracle_credential {
  int sys; /* 0: AUTH_NONE, and the rest does not count */
  const char* machine_name;
  uint32_t uid;
  uint32_t gid;
  uint32_t gids[16];
  uint32_t gid_count;
};

/* A call's header with an AUTH_NONE verifier. Bytes written, or 0. */
size_t oracle_rpc_call(uint32_t xid, uint32_t program, uint32_t version, uint32_t procedure,
                       const struct oracle_credential* credential, void* out, size_t room);

/* Replies without results and with an AUTH_NONE verifier. */
size_t oracle_rpc_accepted(uint32_t xid, uint32_t accept_stat, uint32_t low, uint32_t high,
                           void* out, size_t room);
size_t oracle_rpc_auth_error(uint32_t xid, uint32_t auth_stat, void* out, size_t room);
size_t oracle_rpc_mismatch(uint32_t xid, uint32_t low, uint32_t high, void* out, size_t room);

#ifdef __cplusplus
}
#endif
