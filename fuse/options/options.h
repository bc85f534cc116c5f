// Everything the command line says, checked.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/attr/policy.h"
#include "cache/data/data_limits.h"
#include "fuse/options/source.h"
#include "transport/base/reactor.h"
#include "transport/base/result.h"
#include "transport/fabric/registration_choice.h"
#include "transport/rpc/message.h"

namespace nfsrdma::fuse {

/// The caching options of nfs(5).
struct CacheOptions {
  cache::AttributePolicy attributes;  ///< ac*, actimeo, noac, lookupcache
  bool readdirplus = true;
  std::optional<std::size_t> most_inodes;  ///< inodes; none: as memory allows (default_inodes())
  cache::DataLimits data{.read_ahead = std::size_t{64} << 20};  ///< readahead, dirty_ratio
};

enum class Protocol : std::uint8_t { rdma, tcp };

/// What carries RDMA.
enum class Provider : std::uint8_t {
  automatic,  ///< verbs when the route goes through an RDMA device, otherwise iwarp
  verbs,
  iwarp,
};

/// The version of RPC-over-RDMA: automatic is 2 where the server speaks it, else 1.
enum class RpcRdma : std::uint8_t { one, two, automatic };

/// What a capture records: the bytes of the connection; its RPCs, each of them whole; or RoCEv2
/// packets made of what passes the boundary of the RDMA provider.
enum class CaptureView : std::uint8_t { wire, rpc, roce };
inline constexpr std::size_t kCaptureViews = 3;
/// By its word in the options; none for another word.
std::optional<CaptureView> capture_view_of(std::string_view word);

/// Which locks the server is asked for; the others hold on this machine only (local_lock).
struct LockOptions {
  bool posix = true;  ///< fcntl(2)
  bool flock = true;  ///< flock(2)
};

/// How the server is reached.
struct TransportOptions {
  Protocol protocol = Protocol::rdma;
  std::optional<std::uint16_t> port;  ///< none: the protocol's own; 0: rpcbind tells
  bool ipv6_only = false;             ///< proto=rdma6, proto=tcp6
  RpcRdma rpcrdma = RpcRdma::one;
  /// Bytes of the largest message without chunks. To the server it takes small WRITEs along, which
  /// saves the round trip of the server's RDMA Read; data from it needs no round trip of its own.
  std::uint32_t inline_to_server = 69632;
  std::uint32_t inline_from_server = 4096;
  std::uint32_t credits = 64;  ///< RPCs asked to be in progress at once
  Provider provider = Provider::automatic;
  std::string device;  ///< RDMA device of provider=verbs; empty: that of the route
  fabric::RegistrationChoice registration = fabric::RegistrationChoice::automatic;
  bool crc = true;           ///< MPA CRC32c
  std::string capture_file;  ///< empty: nothing is recorded
  CaptureView capture_view = CaptureView::wire;
  std::size_t capture_snap = 0;    ///< bytes of each packet that are kept; 0: all
  std::size_t capture_files = 1;   ///< above one: a ring of so many
  std::uint64_t capture_size = 0;  ///< bytes of each of them; 0: not said

  /// The port as given, or that of the protocol: 20049 (RFC 8267 section 9), 2049.
  std::uint16_t server_port() const {
    if (port) return *port;
    return protocol == Protocol::tcp ? 2049 : 20049;
  }
};

/// How long callers wait for the server: hard, soft, softerr, timeo, retrans.
struct PatienceOptions {
  /// nfs(5): no time-out, whatever timeo and retrans, is longer.
  static constexpr Duration kLongest = std::chrono::seconds(600);

  int error_number = 0;  ///< what callers get when the time is over; 0: they wait on (hard)
  Duration timeo = std::chrono::seconds(60);
  std::uint32_t retrans = 2;

  /// The whole time-out of one request, in the linear steps of nfs(5).
  Duration time_out() const {
    return std::max(timeo, std::min<Duration>(timeo * (1 + std::int64_t{retrans}), kLongest));
  }
  /// 0: for ever.
  Duration longest_answer() const { return error_number == 0 ? Duration::zero() : time_out(); }
};

/// How the program itself behaves.
struct ProgramOptions {
  bool foreground = false;
  bool debug = false;
  bool verbose = false;
  bool helper = false;            ///< called by mount(8)
  bool sloppy = false;            ///< mount(8) -s: options that are not known are passed over
  std::string mount_namespace;    ///< mount(8) -N: a process id or a path; empty: our own
  bool fake = false;              ///< mount(8) -f: check everything, mount nothing
  std::chrono::minutes retry{0};  ///< how long to go on trying to reach the server
  /// Where the control socket is: auto, off or a path.
  std::string control = "auto";
  /// Where the client owner is kept (ClientOwner); empty: nowhere. Not an option.
  std::string owner_directory;
  std::string log_file;     ///< empty: standard error or the system log
  std::string stats_file;   ///< counters are written there on USR1 and at the end
  std::string record_file;  ///< empty: the mount is not recorded
  /// So many seconds of the recording are kept at least; 0: all.
  std::uint32_t record_last = 0;
  /// How long to look for the next event before sleeping; zero: not at all.
  Duration busy_poll = std::chrono::microseconds(200);
};

struct Options {
  Source source;
  std::string mount_point;        ///< as written
  std::uint32_t rsize = 1 << 20;  ///< bytes
  std::uint32_t wsize = 1 << 20;  ///< bytes
  rpc::AuthFlavor sec = rpc::AuthFlavor::sys;
  CacheOptions cache;
  LockOptions locks;
  std::string domain;  ///< of owners by name; empty: what idmapd.conf says
  PatienceOptions patience;
  TransportOptions transport;
  ProgramOptions program;
  bool read_only = false;
  bool sync = false;  ///< the option by itself: see synchronous()
  bool allow_other = false;
  bool allow_root = false;
  /// The mount point is a device that another program has opened and mounted (/dev/fd/N). What
  /// options it has given to the kernel is not known. Not for the parser to set: see
  /// passed_device().
  bool mounted_by_another = false;
  bool io_uring = false;  ///< the kernel's requests come over one, where it offers that
  std::string fsname;     ///< empty: the source as written
  std::string subtype = "nfsrdma";
  /// For mount(2) or fusermount3, besides those that follow from the fields above.
  std::vector<std::string> mount_flags;
  /// As they were given, those of the configuration first.
  std::vector<std::string> items;
  /// Options accepted without effect. For the log.
  std::vector<std::string> notes;
  /// Of these, what the user may miss: said in any case.
  std::vector<std::string> notices;

  /// Every write is stable before it returns: sync, or noac, which async does not undo (as with the
  /// kernel's client).
  bool synchronous() const { return sync || cache.attributes.noac; }

  /// Whether the kernel checks modes before anything is asked of the server; unset: it does when
  /// other users are let in by this program.
  std::optional<bool> default_permissions;
  bool kernel_checks() const {
    return default_permissions.value_or(!mounted_by_another && other_users());
  }
  /// Whether requests may come from others than the user of this process: who has mounted the
  /// device may have let them in.
  bool other_users() const { return allow_other || allow_root || mounted_by_another; }
};

}  // namespace nfsrdma::fuse
