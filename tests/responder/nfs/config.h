// Configuration of a responder's NFS service.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace nfsrdma::responder {

/// Limits offered in CREATE_SESSION (RFC 8881 section 18.36); a client gets the lesser of its wish
/// and these. Sizes are bytes of unreduced RPC messages.
struct ChannelLimits {
  std::uint32_t max_request_size = (1U << 20) + 8192;
  std::uint32_t max_response_size = (1U << 20) + 8192;
  std::uint32_t max_response_size_cached = 8192;
  std::uint32_t max_operations = 64;
  std::uint32_t max_slots = 64;
};

/// The most that an OPEN can get; a write delegation needs an open for writing.
enum class DelegationKind : std::uint8_t { none, read, write };

struct ServiceConfig {
  /// The directory that is served as `/`. Must exist.
  std::string directory;
  std::uint32_t lease_seconds = 90;
  /// Length of the grace period that follows construction and restart(); 0: none.
  std::uint32_t grace_seconds = 0;
  bool read_only = false;
  /// The verifier of an exclusive create is kept in the times of the file, as Linux and NFS-Ganesha
  /// do, which attrset then says (RFC 8881 section 18.16.3). False: beside the file.
  bool verifier_in_times = false;
  DelegationKind delegations = DelegationKind::none;
  /// READ, WRITE and changes of the size meet byte-range locks: what another owner's lock is in the
  /// way of is NFS4ERR_LOCKED, and an open's stateid has no locks (RFC 8881 section 9.1.2).
  bool mandatory_locks = false;
  /// COMMIT and stable writes wait for the disk. False trades crash safety for speed.
  bool durable = true;
  /// Nothing but this service changes the directory: change_info4.atomic may then be true.
  bool sole_writer = false;
  /// Largest READ and WRITE, in bytes.
  std::uint32_t max_transfer = 1U << 20;
  ChannelLimits channel;
  /// Identity of callers without AUTH_SYS.
  std::uint32_t anonymous_uid = 65534;
  std::uint32_t anonymous_gid = 65534;
  /// Descriptors kept for files that are not open. Lowered to fit RLIMIT_NOFILE.
  std::size_t max_cached_descriptors = 4096;
  /// False: no kernel handles are used, as by an ordinary user, or on a file system without them.
  bool persistent_handles = true;
  /// Makes handles forgery-proof and lets them survive the process.
  /// Empty: derived from /etc/machine-id, or random where there is none.
  std::string handle_key;
  /// eir_server_scope and so_major_id; must stay the same across restarts of one server.
  std::string server_identity = "nfsrdma-responder";
};

}  // namespace nfsrdma::responder
